"""The rules of account data as pure functions (spec B account)."""

import re

from roost.resources.account.countries import COUNTRIES, STATES

NAME_PATTERN = r'[^<>()="]*'
NAME_REASON = 'Must not contain any of < > ( ) = "'

ZIP_PATTERN = r"[A-Za-z0-9-]*"
ZIP_REASON = "Must only use ASCII letters, numbers, and dashes"

_ZIP_CHARACTERS = 9
_US_ZIP = re.compile(r"[0-9]{5}(?:-?[0-9]{4})?", re.ASCII)


def country_problem(country: str) -> str | None:
    """What is wrong with the code; an empty one is a country that is not known yet."""
    if country and country not in COUNTRIES:
        return "Must be a two-letter ISO 3166 country code"
    return None


def state_problem(country: str, state: str) -> str | None:
    """What is wrong with a state of that country; an empty one is not known yet."""
    if state and country in STATES and state not in STATES[country]:
        return f"Must be the two-letter code of a state or province when the country is {country}"
    return None


def zip_problem(country: str, code: str) -> str | None:
    """What is wrong with a zip of that country (rule 1)."""
    if len(code.replace("-", "")) > _ZIP_CHARACTERS:
        return f"Must have at most {_ZIP_CHARACTERS} letters or numbers"
    if country == "US" and not _US_ZIP.fullmatch(code):
        return "Must be a valid US zip code when the country is US"
    return None
