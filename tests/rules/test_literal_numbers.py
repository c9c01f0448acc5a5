"""Numbers of which a body takes a few: neither true nor 1.0 passes for 1."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest
from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

import roost
from roost.web.bodies import Body


def _bodies(parent: type[Body] = Body) -> Iterator[type[Body]]:
    for child in parent.__subclasses__():
        yield child
        yield from _bodies(child)


def _numbers(annotation: object) -> Iterator[int]:
    if get_origin(annotation) is Literal:
        yield from (each for each in get_args(annotation) if isinstance(each, int))
    else:
        for part in get_args(annotation):
            yield from _numbers(part)


def _fields() -> Iterator[tuple[str, FieldInfo, int]]:
    for info in pkgutil.walk_packages(roost.__path__, "roost."):
        if info.name.rpartition(".")[2].endswith("bodies"):
            import_module(info.name)
    for body in _bodies():
        for name, field in body.model_fields.items():
            for number in set(_numbers(field.annotation)):
                yield f"{body.__name__}.{name}={number}", field, number


def _annotated(field: FieldInfo) -> Any:
    return Annotated[field.annotation, *field.metadata]


_FIELDS = list(_fields())


def test_there_are_some() -> None:
    assert {name.partition("=")[0] for name, _, _ in _FIELDS} >= {
        "CreateDatabase.cluster_size",
        "CreateRange.prefix_length",
    }


@pytest.mark.parametrize(
    ("field", "number"), [each[1:] for each in _FIELDS], ids=[each[0] for each in _FIELDS]
)
def test_what_is_equal_to_a_number_is_not_it(field: FieldInfo, number: int) -> None:
    adapter: TypeAdapter[int] = TypeAdapter(_annotated(field))
    assert adapter.validate_python(number, strict=True) == number
    for sent in (float(number), *([True] if number == 1 else [])):
        with pytest.raises(ValidationError, match="Must be an integer"):
            adapter.validate_python(sent, strict=True)
