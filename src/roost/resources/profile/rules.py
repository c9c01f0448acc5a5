"""The rules of the profile as pure functions."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import orjson

from roost.web.fields import refuse

MAX_PREFERENCES = 65535
"""Bytes of JSON."""
MAX_MEMBERS = 10_000
"""More names that differ have no room in them."""


def known_timezone(name: str) -> str:
    """A name of the IANA time zone database, such as `Europe/Berlin`."""
    if name not in _timezones():
        raise refuse("timezone is not valid")
    return name


def small_preferences(preferences: Mapping[str, object]) -> None:
    if len(orjson.dumps(preferences)) > MAX_PREFERENCES:
        raise refuse(f"Must be at most {MAX_PREFERENCES} bytes of JSON")


@cache
def _timezones() -> frozenset[str]:
    return frozenset(files("tzdata").joinpath("zones").read_text().split())
