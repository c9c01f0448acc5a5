"""Constraints of request fields that several groups share, with the reference's reasons.

Each is an annotation: `label: Annotated[str, Length(3, 64)]`. It checks the value, words the
refusal and describes itself in the OpenAPI document.
"""

import re
from dataclasses import dataclass

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from roost.ids import MAX_ID

WHOLE = ""
"""A problem that is found at one field, and is about all of them together."""


def refuse(reason: str, within: str | None = None) -> PydanticCustomError:
    """What a validator raises to refuse a field with exactly this reason.

    `within` names the field of the validated object that is wrong, when it is only one of them.
    """
    return PydanticCustomError("refused", "{reason}", {"reason": reason, "within": within})


@dataclass(frozen=True)
class Length:
    """Characters of a string, or items of a list."""

    min: int
    max: int

    def __get_pydantic_core_schema__(
        self, source: type[object], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def _check(self, value: str | list[object]) -> str | list[object]:
        if not self.min <= len(value) <= self.max:
            what = "characters" if isinstance(value, str) else "items"
            raise refuse(f"Length must be {self.min}-{self.max} {what}")
        return value

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        described = handler(schema)
        noun = "Items" if described.get("type") == "array" else "Length"
        described[f"min{noun}"] = self.min
        described[f"max{noun}"] = self.max
        return described


@dataclass(frozen=True)
class Between:
    """A number, both ends included."""

    min: int
    max: int

    def __get_pydantic_core_schema__(
        self, source: type[object], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def _check(self, value: int) -> int:
        if not self.min <= value <= self.max:
            raise refuse(f"Must be {self.min}-{self.max}")
        return value

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        described = handler(schema)
        described["minimum"] = self.min
        if self.max == MAX_ID:
            described["format"] = "int64"
        else:
            described["maximum"] = self.max
        return described


@dataclass(frozen=True)
class Pattern:
    """A string that matches a regular expression as a whole."""

    expression: str
    reason: str
    format: str | None = None
    """The format of JSON Schema that it is."""

    def __get_pydantic_core_schema__(
        self, source: type[object], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def _check(self, value: str) -> str:
        if not re.fullmatch(self.expression, value, re.ASCII):
            raise refuse(self.reason)
        return value

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        described = handler(schema)
        described["pattern"] = f"^(?:{self.expression})$"
        if self.format is not None:
            described["format"] = self.format
        return described


DEPRECATED = Field(json_schema_extra={"deprecated": True})
"""Without the warnings that pydantic's own mark gives to our own code."""

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"

EMAIL_PATTERN = rf"{_ATOM}(?:\.{_ATOM})*@(?:{_LABEL}\.)+{_LABEL}"
EMAIL_REASON = "Must be an email address"

EMAIL = Pattern(EMAIL_PATTERN, EMAIL_REASON, "email")
"""As in RFC 5321, without quoted names and bare hosts; put a Length before it."""
