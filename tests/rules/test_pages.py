"""page and page_size of a list."""

import pytest

from roost.errors import ApiError
from roost.web.pages import parse_page


@pytest.mark.parametrize(
    ("page", "page_size", "wanted"),
    [
        (None, None, (1, 100)),
        ("2", None, (2, 100)),
        ("007", "25", (7, 25)),
        (None, "500", (1, 500)),
    ],
)
def test_accepts(page: str | None, page_size: str | None, wanted: tuple[int, int]) -> None:
    assert parse_page(page, page_size) == wanted


def test_absurd_pages_stay_absurd() -> None:
    assert parse_page("9" * 5000, None)[0] > 2**64


@pytest.mark.parametrize(
    ("page", "page_size", "problems"),
    [
        ("0", None, [("page", "Must be 1 or greater")]),
        ("-3", None, [("page", "Must be 1 or greater")]),
        ("one", None, [("page", "Must be an integer")]),
        ("", None, [("page", "Must be an integer")]),
        ("1.0", None, [("page", "Must be an integer")]),
        ("1_0", None, [("page", "Must be an integer")]),
        ("\u0661", None, [("page", "Must be an integer")]),
        (None, "24", [("page_size", "Must be 25-500")]),
        (None, "501", [("page_size", "Must be 25-500")]),
        (None, "many", [("page_size", "Must be 25-500")]),
        ("0", "0", [("page", "Must be 1 or greater"), ("page_size", "Must be 25-500")]),
    ],
)
def test_refuses(page: str | None, page_size: str | None, problems: list[tuple[str, str]]) -> None:
    with pytest.raises(ApiError) as refusal:
        parse_page(page, page_size)
    assert refusal.value.status == 400
    assert [(p.field, p.reason) for p in refusal.value.problems] == problems
