"""Which page of a list: the query parameters `page` and `page_size` (spec A lists)."""

from collections.abc import Mapping

from roost.errors import Problem, invalid_fields

MIN_PAGE_SIZE = 25
MAX_PAGE_SIZE = 500
DEFAULT_PAGE_SIZE = 100

_MAX_DIGITS = 1000
"""Far beyond 2^64, where an absurd page means the last one (reference, Pagination)."""


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
    digits = text.removeprefix("-")
    if len(digits) > _MAX_DIGITS or not (digits.isascii() and digits.isdecimal()):
        return None
    return int(text)
