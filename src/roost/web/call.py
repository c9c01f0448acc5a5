"""What a handler knows about the request it answers."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from roost.core.access import left_of
from roost.core.context import Context
from roost.core.entities.registry import Entities
from roost.core.grant_queries import only_granted, only_of
from roost.store.paging import Listing, Selection, fetch_page, fetch_record
from roost.web.reply import Reply
from roost.web.routing import Params


@dataclass(frozen=True, slots=True)
class Asked:
    """A read that a request consists of."""

    path: str
    """With its query, as in a URL."""
    filter: bytes | None = None
    """Its header X-Filter."""
    if_none_match: str | None = None


Ask = Callable[[Asked], Awaitable[Reply]]


@dataclass(slots=True, kw_only=True)
class Call(Context):
    """One request, already authenticated, authorised and parsed.

    `db` is the write's own transaction, or for a GET the store (DESIGN, section 3).
    """

    params: Params
    page: int = 1
    page_size: int = 100
    selection: Selection = field(default_factory=Selection)
    query: dict[str, str] | None = None
    last_event_id: str | None = None
    """How far the client has read a stream."""
    asked: Sequence[Asked] = ()
    """The reads that the request consists of."""
    ask: Ask | None = None
    """Answers another read of the same caller, as if it had come by itself."""
    client: str = ""
    """The address of the caller."""
    revision: str | None = None
    """The former revision that the caller speaks; None for the newest."""
    base: str = ""
    """The scheme and host by which the caller has reached this server."""

    def number(self, name: str) -> int:
        """A number in the path."""
        return int(self.params[name])

    def text(self, name: str) -> str:
        """A text in the path."""
        return str(self.params[name])

    async def collection(self, listing: Listing, *scope_args: object) -> bytes:
        """The wanted page of a collection, filtered and ordered as the caller asked.

        A restricted user sees the rows that are granted to them, a narrowed token those of the
        entities that are left to it.
        """
        listing, scope = await self._left(*self._granted(listing, scope_args))
        return await fetch_page(self.db, listing, scope, self.selection, self.page, self.page_size)

    async def record(self, key: int | str, listing: Listing, *scope_args: object) -> bytes:
        """One record of a collection by its key; 404 for one that the caller may not see."""
        listing, scope = await self._left(*self._granted(listing, scope_args))
        return await fetch_record(self.db, listing, scope, key)

    def _granted(
        self, listing: Listing, scope: tuple[object, ...]
    ) -> tuple[Listing, tuple[object, ...]]:
        if self.caller is None or not self.caller.restricted or listing.granted is None:
            return listing, scope
        scope = (*scope, self.caller.user_id)
        return only_granted(listing, len(scope)), scope

    async def _left(
        self, listing: Listing, scope: tuple[object, ...]
    ) -> tuple[Listing, tuple[object, ...]]:
        if self.names_only is None or listing.granted is None:
            return listing, scope
        of_rows, resources = listing.granted[0], self.get(Entities).resources()
        kinds = [each.name for each in resources if f"'{each.name}'" in of_rows]
        left = [(kind, each) for kind in kinds for each in await left_of(self, kind)]
        scope = (*scope, [kind for kind, _ in left], [each for _, each in left])
        return only_of(listing, len(scope) - 1), scope
