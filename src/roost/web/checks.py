"""What the validators of bodies may ask, beside what they are given."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Annotated, Generic, TypeVar

from pydantic import AfterValidator, GetCoreSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, core_schema

from roost.core.catalog import Catalog
from roost.core.references import Reference, References
from roost.services import Services
from roost.web.fields import ShortText, refuse

K = TypeVar("K", int, str)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Checks:
    """The context in which a body is validated."""

    services: Services
    references: References = field(default_factory=References)
    passed: set[tuple[object, str]] = field(default_factory=set)
    """Checks that took long, with the texts that have passed them."""


def checks_of(info: ValidationInfo) -> Checks:
    assert isinstance(info.context, Checks)
    return info.context


def catalog_of(info: ValidationInfo) -> Catalog:
    return checks_of(info).services.get(Catalog)


def once(check: Callable[[str], str]) -> Callable[[str, ValidationInfo], str]:
    """A check that takes long: of a text that passes, once, however often its body is validated."""

    def checked(text: str, info: ValidationInfo) -> str:
        passed = checks_of(info).passed
        if (check, text) not in passed:
            check(text)
            passed.add((check, text))
        return text

    return checked


def referred(info: ValidationInfo, reference: Reference[K, T], key: K) -> T | None:
    """What is known of something that this field or one before it names.

    None while references are only being collected.
    """
    found = checks_of(info).references.find(reference, (key,))
    return None if found is None else found.get(key)


def _check_region(region: str, info: ValidationInfo) -> str:
    if catalog_of(info).find_region(region) is None:
        raise refuse(f"{info.field_name} is not valid")
    return region


def _check_plan(plan: str, info: ValidationInfo) -> str:
    if catalog_of(info).find_type(plan) is None:
        raise refuse("A valid plan type by that ID was not found")
    return plan


def check_image(image: str, info: ValidationInfo) -> str:
    if catalog_of(info).find_image(image) is None:
        raise refuse(f"{info.field_name} is not valid")
    return image


RegionId = Annotated[ShortText, AfterValidator(_check_region)]
PlanId = Annotated[ShortText, AfterValidator(_check_plan)]
ImageId = Annotated[ShortText, AfterValidator(check_image)]
"""Ids of what the catalogue has."""


@dataclass(frozen=True)
class Refers(Generic[K, T]):
    """A value, or each of a list of values, that names something in the database.

    All that a body names is looked up in one pass, for the account and the caller's grants, and
    what does not exist is refused together with everything else that is wrong.
    """

    reference: Reference[K, T]
    reason: str | None = None
    """Of the refusal, where it is not `<field> is not valid`."""

    def __get_pydantic_core_schema__(
        self, source: type[object], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.with_info_after_validator_function(self._check, handler(source))

    def _check(self, value: K | list[K], info: ValidationInfo) -> K | list[K]:
        wanted: Collection[K] = value if isinstance(value, list) else (value,)
        found = checks_of(info).references.find(self.reference, wanted) if wanted else {}
        if found is not None and not all(key in found for key in wanted):
            raise refuse(self.reason or f"{info.field_name} is not valid")
        return value
