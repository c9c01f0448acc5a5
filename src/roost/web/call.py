"""What a handler knows about the request it answers."""

from dataclasses import dataclass, field
from typing import TypeVar

from roost.clock import Clock
from roost.errors import unauthenticated
from roost.services import Services
from roost.store import Queries, notify
from roost.store.paging import Listing, Selection, fetch_page, fetch_record
from roost.web.auth import Identity
from roost.web.grant_queries import only_granted
from roost.web.revocation_queries import CHANNEL
from roost.web.routing import Params

T = TypeVar("T")


@dataclass(slots=True)
class Call:
    """One request, already authenticated, authorised and parsed.

    `db` is the write's own transaction, or for a GET the store: a handler of a write does not
    open or commit anything itself (DESIGN, section 3).
    """

    caller: Identity | None
    params: Params
    db: Queries
    services: Services
    clock: Clock
    page: int = 1
    page_size: int = 100
    selection: Selection = field(default_factory=Selection)
    query: dict[str, str] | None = None
    client: str = ""
    """The address of the caller."""
    revokes: bool = False
    """Whether the answer waits until all processes know what has changed."""

    @property
    def identity(self) -> Identity:
        """The caller of an endpoint that wants a token."""
        if self.caller is None:
            raise unauthenticated()
        return self.caller

    @property
    def account_id(self) -> int:
        return self.identity.account_id

    @property
    def grantee(self) -> int | None:
        """The user, when they see no more than what is granted to them."""
        return self.identity.user_id if self.identity.restricted else None

    def number(self, name: str) -> int:
        """A number in the path."""
        return int(self.params[name])

    def text(self, name: str) -> str:
        """A text in the path."""
        return str(self.params[name])

    async def revoke(self) -> None:
        """A token has ended, or a user may do less: what processes remember of it is void.

        They are told with the commit, and the answer waits until they have heard.
        """
        self.revokes = True
        await notify(self.db, CHANNEL)

    def get(self, kind: type[T]) -> T:
        """A service of this process by its type."""
        return self.services.get(kind)

    async def collection(self, listing: Listing, *scope_args: object) -> bytes:
        """The wanted page of a collection, filtered and ordered as the caller asked.

        A restricted user sees the rows that are granted to them.
        """
        listing, scope = self._granted(listing, scope_args)
        return await fetch_page(self.db, listing, scope, self.selection, self.page, self.page_size)

    async def record(self, key: int | str, listing: Listing, *scope_args: object) -> bytes:
        """One record of a collection by its key; 404 for one that the caller may not see."""
        listing, scope = self._granted(listing, scope_args)
        return await fetch_record(self.db, listing, scope, key)

    def _granted(
        self, listing: Listing, scope: tuple[object, ...]
    ) -> tuple[Listing, tuple[object, ...]]:
        if self.caller is None or not self.caller.restricted or listing.granted is None:
            return listing, scope
        scope = (*scope, self.caller.user_id)
        return only_granted(listing, len(scope)), scope
