"""Fields that name things are of types that say so (decision 0035)."""

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, cast, get_args

import pytest
from pydantic import BaseModel, ValidationInfo, field_validator
from pydantic.fields import FieldInfo

from roost.app.groups import GROUPS
from roost.clock import Clock
from roost.core.context import Context
from roost.errors import ApiError, forbidden
from roost.services import Services
from roost.store import Queries
from roost.web.bodies import Body, read_body
from roost.web.checks import Refers, referred
from roost.web.fields import Length
from roost.web.registry import Registry

OF_THE_INSTANCE = {"config_id", "disk_id", "volume_id"}
"""Judged under the lock of the instance that the path names."""
ELSEWHERE = {
    *("subnet_id", "question_id", "event_id", "tax_id", "payer_id", "payment_id", "upload_id"),
}
"""Of a validator that refers, of a list in memory, of the changes that an account has seen, of the
state, of third parties, and of S3."""
IN_OTHER_WORDS = {"AssignAddresses.compute_id"}
"""Refused by the use case, without a field, as the reference words it."""


def bodies() -> Iterator[type[Body]]:
    registry = Registry(GROUPS.endpoints)
    yield from {each.body for each in registry if each.body is not None}


def models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from models_in(argument)


def fields_of(model: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
    for name, field in model.model_fields.items():
        yield name, field
        for inner in models_in(field.annotation):
            yield from fields_of(inner)


def refers(annotation: object) -> bool:
    return isinstance(annotation, Refers) or any(refers(each) for each in parts(annotation))


def parts(annotation: object) -> tuple[object, ...]:
    return (*get_args(annotation), *getattr(annotation, "__metadata__", ()))


def test_every_id_in_a_body_is_a_reference() -> None:
    known = OF_THE_INSTANCE | ELSEWHERE
    plain = {
        f"{model.__name__}.{name}"
        for model in bodies()
        for name, field in fields_of(model)
        if name.endswith(("_id", "_users")) and name not in known
        if not refers(field.annotation) and not any(map(refers, field.metadata))
    }
    assert plain == IN_OTHER_WORDS


class Shelf:
    """What there is, and what was asked for."""

    def __init__(self, there: Mapping[int, str]) -> None:
        self.there, self.asked = there, list[set[int]]()

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, str]:
        self.asked.append(set(ids))
        if 403 in ids:
            raise forbidden()
        return {each: self.there[each] for each in ids if each in self.there}


SHELF = Shelf({1: "red", 2: "green"})


class Order(Body):
    """One of two fields that refer, and what depends on it."""

    book: Annotated[int, Refers(SHELF)]
    label: Annotated[str, Length(3, 5)]
    others: list[Annotated[int, Refers(SHELF, "Not found")]] = []
    colour: str = ""

    @field_validator("colour")
    @classmethod
    def _check_colour(cls, value: str, info: ValidationInfo) -> str:
        found = referred(info, SHELF, info.data.get("book", 0))
        return value if found is None else found


async def read(raw: bytes) -> Order:
    nothing = cast(Queries, None)
    context = Context(caller=None, db=nothing, services=Services(), clock=Clock())
    return await read_body(Order, raw, context)


@pytest.fixture(autouse=True)
def _nothing_asked() -> None:
    SHELF.asked.clear()


async def test_all_are_looked_up_in_one_pass() -> None:
    order = await read(b'{"book": 1, "label": "abc", "others": [2, 1], "colour": "?"}')
    assert SHELF.asked == [{1, 2}]
    assert order.colour == "red"


async def test_what_does_not_exist_is_refused_with_the_rest_in_field_order() -> None:
    with pytest.raises(ApiError) as refusal:
        await read(b'{"book": 3, "label": "x", "others": [2, 4, "x"]}')
    assert [(p.field, p.reason) for p in refusal.value.problems] == [
        ("book", "book is not valid"),
        ("label", "Length must be 3-5 characters"),
        ("others[1]", "Not found"),
        ("others[2]", "Must be an integer"),
    ]


async def test_nothing_is_looked_up_for_a_body_that_names_nothing() -> None:
    with pytest.raises(ApiError):
        await read(b'{"book": "x", "label": "abc"}')
    assert SHELF.asked == []


async def test_a_missing_right_comes_first() -> None:
    with pytest.raises(ApiError) as refusal:
        await read(b'{"book": 403, "label": "x"}')
    assert refusal.value.status == 403
