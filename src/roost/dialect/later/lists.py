"""These are endpoints as all others are, so that tokens, scopes, limits and the documentation hold
for them too."""

from collections.abc import Iterator
from inspect import cleandoc

from typing_extensions import TypedDict

from roost.dialect.later.derived import DERIVED
from roost.dialect.later.prices import PRICES
from roost.dialect.table import Dialect, Lists
from roost.store.paging import page_of
from roost.web.call import Call
from roost.web.registry import Endpoint, Page, endpoint


class NothingRow(TypedDict):
    """There is none."""


def later_endpoints(dialect: Dialect) -> Iterator[Endpoint]:
    """All that the dialect has beside the API."""
    yield from PRICES
    yield from DERIVED
    for lists in dialect.lists:
        yield _empty(lists)


def _empty(lists: Lists) -> Endpoint:
    """Open to all where it would be a price list."""

    async def answer(call: Call) -> bytes:
        return page_of([], call.page, call.page_size)

    words = lists.path.strip("/").replace("/", "_").replace("-", "_")
    answer.__name__ = f"list_{words}"
    answer.__doc__ = cleandoc(f"""{lists.summary}.

        There are none here: the list is always empty.
        """)
    declare = endpoint(
        "GET",
        lists.path,
        scopes=lists.scopes,
        public=not lists.scopes,
        returns=Page(NothingRow),
    )
    return declare(answer)
