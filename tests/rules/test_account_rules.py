"""Every field of the account and of its users: valid, non-canonical and invalid values."""

import json
from pathlib import Path

import pytest
from tests.support.client import Json

from roost.errors import ApiError
from roost.resources.account.bodies import UpdateAccount, UpdateSettings
from roost.resources.account.rules import COUNTRIES, STATES
from roost.resources.users.bodies import CreateUser, UpdateUser
from roost.services import Services
from roost.web.bodies import Body, parse_body

pytestmark = pytest.mark.spec("B account 1", "B errors conditions")

NAME = 'Must not contain any of < > ( ) = "'
COUNTRY = "Must be a two-letter ISO 3166 country code"
STATE = "Must be the two-letter code of a state or province when the country is {}"
ZIP_CHARACTERS = "Must only use ASCII letters, numbers, and dashes"
ZIP_COUNT = "Must have at most 9 letters or numbers"
US_ZIP = "Must be a valid US zip code when the country is US"
EMAIL = "Must be an email address"
USERNAME = (
    "Must begin and end with a letter or number, and hold only letters, numbers, hyphens and "
    "underscores, none of the last two twice in a row"
)

LENGTHS = {
    "address_1": 64,
    "address_2": 64,
    "city": 24,
    "company": 128,
    "first_name": 50,
    "last_name": 50,
    "phone": 32,
    "state": 24,
    "tax_id": 25,
}
NAMES = ("company", "first_name", "last_name")

EMAILS = (
    "a@example.com",
    "first.last+tag@mail.example.co.uk",
    "o'neil@example.com",
    "UPPER@EXAMPLE.COM",
    "x_y-z@a-b.example",
    "1@2.example",
    "a@xn--bcher-kva.example",
)
NO_EMAILS = (
    "a",
    "a@",
    "@example.com",
    "a@b",
    "a b@example.com",
    "a@exam ple.com",
    "a@@example.com",
    "a@example..com",
    "a@.example.com",
    "a@example.com.",
    "a@-example.com",
    "a@example-.com",
    ".a@example.com",
    "a.@example.com",
    "a..b@example.com",
    "Ada <a@example.com>",
    "a@example.com\n",
    "a@example.com,b@example.com",
    "ä@example.com",
    "a@exämple.com",
    "a@[127.0.0.1]",
    f"a@{'b' * 64}.com",
)

ACCEPTED: list[Json] = [
    {},
    *({field: ""} for field in LENGTHS),
    *({field: "x" * most} for field, most in LENGTHS.items()),
    *({field: "Zoë & Søn, Ltd. 'x' [y] {z}; 東京"} for field in NAMES),
    {"phone": "+1 (215) 555-0142 ext. 3"},
    {"tax_id": "ATU99999999"},
    {"country": ""},
    *({"country": code} for code in sorted(COUNTRIES - {"US", "CA"})),
    *({"country": "US", "state": code, "zip": "19102"} for code in sorted(STATES["US"])),
    *({"country": "CA", "state": code} for code in sorted(STATES["CA"])),
    {"country": "DE", "state": "Bayern"},
    {"country": "US", "state": "", "zip": "00501"},
    {"country": "US", "zip": "19102-1234"},
    {"country": "US", "zip": "191021234"},
    {"country": "CA", "zip": "K1A-0B1"},
    {"state": "Bayern"},
    {"zip": ""},
    {"zip": "A-1-b-2-C-3-d-4-5"},
    {"zip": "123456789"},
    {"email": ""},
    *({"email": email} for email in EMAILS),
    {"email": "a" * 116 + "@example.com"},
    dict.fromkeys(UpdateAccount.model_fields),
    {"balance": "x", "euuid": 5, "credit_card": {"last_four": None}, "capabilities": []},
]

REFUSED: list[tuple[Json, list[tuple[str, str]]]] = [
    *(({field: 5}, [(field, "Must be a string")]) for field in UpdateAccount.model_fields),
    *(
        ({field: "x" * (most + 1)}, [(field, f"Length must be 0-{most} characters")])
        for field, most in LENGTHS.items()
    ),
    *(({field: f"a{sign}b"}, [(field, NAME)]) for field in NAMES for sign in '<>()="'),
    *(
        ({"country": code}, [("country", COUNTRY)])
        for code in ("us", "Us", "USA", "U", "XX", "UK", "EU", "ZZ", "12", "United States", " US")
    ),
    *(
        ({"country": country, "state": state}, [("state", STATE.format(country))])
        for country, state in (
            ("CA", "Ontario"),
            ("CA", "PA"),
            ("CA", "on"),
            ("CA", "AA"),
        )
    ),
    *(
        ({"country": "US", "zip": "19102", "state": state}, [("state", STATE.format("US"))])
        for state in ("pa", "Pennsylvania", "P", "ON", "ZZ", "AB", " PA")
    ),
    *(
        ({"country": "US", "zip": code}, [("zip", US_ZIP)])
        for code in ("", "1910", "191021", "19102-", "19102-123", "1910A", "K1A-0B1", "19-102")
    ),
    *(
        ({"zip": code}, [("zip", ZIP_CHARACTERS)])
        for code in ("SW1A 1AA", "1_2", "\uff11234", "1.2")
    ),
    *(({"zip": code}, [("zip", ZIP_COUNT)]) for code in ("1234567890", "12345-67890", "a" * 10)),
    ({"zip": "-" * 33}, [("zip", "Length must be 0-32 characters")]),
    *(({"email": email}, [("email", EMAIL)]) for email in NO_EMAILS),
    ({"email": "a" * 117 + "@example.com"}, [("email", "Length must be 0-128 characters")]),
    (
        {
            "zip": "x",
            "state": "Ontario",
            "last_name": "<",
            "email": "a",
            "country": "US",
            "company": "(",
            "city": 5,
        },
        [
            ("city", "Must be a string"),
            ("company", NAME),
            ("email", EMAIL),
            ("last_name", NAME),
            ("state", STATE.format("US")),
            ("zip", US_ZIP),
        ],
    ),
]

SETTINGS: list[tuple[Json, list[tuple[str, str]]]] = [
    ({"backups_enabled": "no"}, [("backups_enabled", "Must be true or false")]),
    ({"network_helper": 1}, [("network_helper", "Must be true or false")]),
]

USER: Json = {"username": "ada", "email": "ada@example.com"}

USERNAMES = ("ada", "a-b", "a_b", "A-b_C-9", "a-_b", "1234", "x" * 32)
NO_USERNAMES = ("-ada", "ada-", "_ada", "ada_", "a--b", "a__b", "a.b", "a b", "ädä", "a/b", "ada\n")

USER_REFUSED: list[tuple[Json, list[tuple[str, str]]]] = [
    ({}, [("username", "username is required"), ("email", "email is required")]),
    (
        {"username": None, "email": None, "restricted": None},
        [("username", "username is required"), ("email", "email is required")],
    ),
    *(({**USER, "username": name}, [("username", USERNAME)]) for name in NO_USERNAMES),
    *(
        ({**USER, "username": name}, [("username", "Length must be 3-32 characters")])
        for name in ("", "ab", "x" * 33)
    ),
    ({**USER, "username": 5}, [("username", "Must be a string")]),
    *(({**USER, "email": email}, [("email", EMAIL)]) for email in NO_EMAILS if len(email) > 2),
    *(
        ({**USER, "email": email}, [("email", "Length must be 3-128 characters")])
        for email in ("", "a@", "a" * 117 + "@example.com")
    ),
    ({**USER, "restricted": "yes"}, [("restricted", "Must be true or false")]),
]


def read(model: type[Body], case: Json) -> Body:
    return parse_body(model, json.dumps(case).encode(), Services())


def problems(model: type[Body], case: Json) -> list[tuple[str | None, str]]:
    with pytest.raises(ApiError) as caught:
        read(model, case)
    assert caught.value.status == 400
    return [(problem.field, problem.reason) for problem in caught.value.problems]


@pytest.mark.spec(
    "B account address",
    "B account city",
    "B account company",
    "B account country",
    "B account email",
    "B account names",
    "B account phone",
    "B account state",
    "B account state codes",
    "B account tax_id",
    "B account zip",
    "B account company characters",
    "B account names characters",
    "B account zip length",
)
@pytest.mark.parametrize("case", ACCEPTED, ids=str)
def test_account_accepted(case: Json) -> None:
    known = {key: value for key, value in case.items() if key in UpdateAccount.model_fields}
    body = read(UpdateAccount, case).model_dump()
    assert {key: body[key] for key in known} == known


@pytest.mark.spec(
    "B account address",
    "B account city",
    "B account company",
    "B account country",
    "B account email",
    "B account names",
    "B account phone",
    "B account state",
    "B account state codes",
    "B account tax_id",
    "B account zip",
    "B account company characters",
    "B account names characters",
    "B account zip length",
)
@pytest.mark.parametrize(("case", "expected"), REFUSED, ids=str)
def test_account_refused(case: Json, expected: list[tuple[str, str]]) -> None:
    assert problems(UpdateAccount, case) == expected


@pytest.mark.parametrize(("case", "expected"), SETTINGS, ids=str)
def test_settings_refused(case: Json, expected: list[tuple[str, str]]) -> None:
    assert problems(UpdateSettings, case) == expected


@pytest.mark.parametrize("name", USERNAMES)
@pytest.mark.parametrize("email", EMAILS)
def test_user_accepted(name: str, email: str) -> None:
    case: Json = {"username": name, "email": email, "restricted": False}
    assert read(CreateUser, case).model_dump() == case
    assert read(UpdateUser, case).model_dump() == case


def test_a_new_user_is_restricted_unless_told_otherwise() -> None:
    assert read(CreateUser, USER).model_dump() == {**USER, "restricted": True}


@pytest.mark.parametrize(("case", "expected"), USER_REFUSED, ids=str)
def test_user_refused(case: Json, expected: list[tuple[str, str]]) -> None:
    assert problems(CreateUser, case) == expected
    if all(value is not None for value in case.values()) and case:
        assert problems(UpdateUser, case) == expected


@pytest.mark.spec("B account country")
def test_the_countries_are_those_of_the_tz_database() -> None:
    table = Path("/usr/share/zoneinfo/iso3166.tab")
    assert len(COUNTRIES) == 249
    assert all(len(code) == 2 and code.isascii() and code.isupper() for code in COUNTRIES)
    if table.exists():
        lines = table.read_text().splitlines()
        assert {line[:2] for line in lines if not line.startswith("#")} == COUNTRIES
