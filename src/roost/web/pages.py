"""Which page of a list: the query parameters `page` and `page_size` (spec A, Endpoints)."""

import re
from collections.abc import Mapping

from roost.errors import Problem, invalid_fields

MIN_PAGE_SIZE = 25
MAX_PAGE_SIZE = 500
DEFAULT_PAGE_SIZE = 100

_ABSURD_DIGITS = 30


def parse_page(query: Mapping[str, str]) -> tuple[int, int]:
    """Page and page size, the defaults for what is absent; ApiError 400 with every bad field."""
    problems: list[Problem] = []
    number = _integer(query.get("page", "1"))
    if number is None:
        problems.append(Problem("Must be an integer", "page"))
    elif number < 1:
        problems.append(Problem("Must be 1 or greater", "page"))
    size = _integer(query.get("page_size", str(DEFAULT_PAGE_SIZE)))
    if size is None or not MIN_PAGE_SIZE <= size <= MAX_PAGE_SIZE:
        problems.append(Problem(f"Must be {MIN_PAGE_SIZE}-{MAX_PAGE_SIZE}", "page_size"))
    if number is None or size is None or problems:
        raise invalid_fields(problems)
    return number, size


def _integer(text: str) -> int | None:
    """Digits beyond what any list holds are cut: they only need to stay absurdly large."""
    match = re.fullmatch(r"(-?)0*([0-9]+)", text, re.ASCII)
    return int(match[1] + match[2][:_ABSURD_DIGITS]) if match else None
