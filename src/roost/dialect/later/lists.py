"""These are endpoints as all others are, so that tokens, scopes, limits and the documentation hold
for them too."""

from collections.abc import Iterator, Sequence
from inspect import cleandoc

from typing_extensions import TypedDict

from roost.core.catalog import Catalog
from roost.dialect.table import Dialect, Lists
from roost.store.paging import page_of
from roost.web.call import Call
from roost.web.registry import Endpoint, Page, endpoint


class NothingRow(TypedDict):
    """There is none."""


class PriceRow(TypedDict):
    """US dollars."""

    hourly: float
    """An hour, up to the price of a month."""
    monthly: float
    """A month."""


class RegionPriceRow(PriceRow):
    """The price of a region where it is another."""

    id: str
    """The region."""


class PricedRow(TypedDict):
    """What something costs."""

    id: str
    """What it is."""
    label: str
    """What people call it."""
    price: PriceRow
    """Of one GiB."""
    region_prices: Sequence[RegionPriceRow]
    """Where it costs something else."""
    transfer: int
    """What it adds to the transfer pool: nothing."""


@endpoint("GET", "/volumes/types", public=True, returns=Page(PricedRow))
async def list_volume_types(call: Call) -> bytes:
    """List the prices of volumes.

    There is one kind of volume.
    """
    priced = call.services.get(Catalog).entries.volume_price
    prices = priced.model_dump(mode="json")
    row = {"id": "volume", "label": "Storage Volume", **prices, "transfer": 0}
    return page_of([row], call.page, call.page_size)


def later_endpoints(dialect: Dialect) -> Iterator[Endpoint]:
    """All that the dialect has beside the API."""
    yield list_volume_types
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
