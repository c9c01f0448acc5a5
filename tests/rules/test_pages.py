"""page and page_size of a list."""

import pytest

from roost.errors import ApiError
from roost.web.pages import parse_page


@pytest.mark.spec("A page", "A limits page_size", "A page default", "A limits page_size default")
@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ({}, (1, 100)),
        ({"page": "2"}, (2, 100)),
        ({"page": "007", "page_size": "25"}, (7, 25)),
        ({"page_size": "500", "other": "x"}, (1, 500)),
    ],
)
def test_accepts(query: dict[str, str], wanted: tuple[int, int]) -> None:
    assert parse_page(query) == wanted


def test_absurd_pages_stay_absurd() -> None:
    assert parse_page({"page": "9" * 1000})[0] > 2**64


SMALL = ("page", "Must be 1 or greater")
NO_INTEGER = ("page", "Must be an integer")
SIZE = ("page_size", "Must be 25-500")


@pytest.mark.spec("A page", "A limits page_size")
@pytest.mark.parametrize(
    ("query", "problems"),
    [
        ({"page": "0"}, [SMALL]),
        ({"page": "-3"}, [SMALL]),
        ({"page": "one"}, [NO_INTEGER]),
        ({"page": ""}, [NO_INTEGER]),
        ({"page": "1.0"}, [NO_INTEGER]),
        ({"page": "1_0"}, [NO_INTEGER]),
        ({"page": "\u0661"}, [NO_INTEGER]),
        ({"page": "\xb2"}, [NO_INTEGER]),
        ({"page": "--1"}, [NO_INTEGER]),
        ({"page": "-"}, [NO_INTEGER]),
        ({"page": "0" * 60_000 + "x"}, [NO_INTEGER]),
        ({"page": "0" * 60_000}, [NO_INTEGER]),
        ({"page_size": "24"}, [SIZE]),
        ({"page_size": "501"}, [SIZE]),
        ({"page_size": "many"}, [SIZE]),
        ({"page": "0", "page_size": "0"}, [SMALL, SIZE]),
    ],
)
def test_refuses(query: dict[str, str], problems: list[tuple[str, str]]) -> None:
    with pytest.raises(ApiError) as refusal:
        parse_page(query)
    assert refusal.value.status == 400
    assert [(p.field, p.reason) for p in refusal.value.problems] == problems
