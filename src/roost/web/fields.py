"""Constraints of request fields that several groups share, with the reference's reasons.

Each is an annotation: `label: Annotated[str, Length(3, 64)]`. It checks the value, words the
refusal and describes itself in the OpenAPI document.
"""

import re
from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
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


def _check_integer(value: object) -> object:
    if isinstance(value, bool | float):
        raise refuse("Must be an integer")
    return value


INTEGER = BeforeValidator(_check_integer)
"""Before a Literal of numbers, of which true and 1.0 are equal to one."""

MAPPED = "Must be an IPv4 address itself, not an IPv6 address that stands for it"
"""Packets never have `::ffff:192.0.2.1`: whoever means that address is not meant by it."""

_UNITS = {str: "characters", list: "items", dict: "members"}


@dataclass(frozen=True)
class Length:
    """Characters of a string, items of a list or members of an object.

    The latter are counted before anything is made of them; put a Length before what reads a string.
    """

    min: int
    max: int

    def __get_pydantic_core_schema__(
        self, source: type[object], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        inner = handler(source)
        if inner["type"] in ("list", "dict"):
            return core_schema.no_info_before_validator_function(self._check, inner)
        return core_schema.no_info_after_validator_function(self._check, inner)

    def _check(self, value: object) -> object:
        """Values of another type are refused by what follows."""
        if isinstance(value, str | list | dict) and not self.min <= len(value) <= self.max:
            raise refuse(f"Length must be {self.min}-{self.max} {_UNITS[type(value)]}")
        return value

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        described = handler(schema)
        noun = {"array": "Items", "object": "Properties"}.get(str(described.get("type")), "Length")
        # Another constraint of the same field may say more.
        described[f"min{noun}"] = max(self.min, described.get(f"min{noun}", 0))
        described[f"max{noun}"] = min(self.max, described.get(f"max{noun}", self.max))
        return described


ShortText = Annotated[str, Length(0, 255)]
"""What is looked up or read by its own rules, which are told of nothing longer."""


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
