"""What a use case works with, whoever calls it: a request, a job, a command."""

from dataclasses import dataclass
from typing import TypeVar

from roost.clock import Clock
from roost.core.identity import Identity
from roost.core.revocation_queries import CHANNEL
from roost.errors import unauthenticated
from roost.services import Services
from roost.store import Queries, notify

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Context:
    """Somebody who acts, and what there is to act with.

    `db` is the transaction of a write, or the store: a use case opens and commits nothing itself.
    """

    caller: Identity | None
    db: Queries
    services: Services
    clock: Clock
    revokes: bool = False
    """Whether the answer waits until all processes know what has changed."""

    @property
    def identity(self) -> Identity:
        """The identity of a caller who acts with a token; 401 for one without."""
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

    @property
    def names_only(self) -> str | None:
        """The restriction of a narrowed token that leaves it certain entities alone, if any."""
        narrowing = None if self.caller is None else self.caller.narrowing
        return None if narrowing is None else narrowing.of_entities()

    async def revoke(self) -> None:
        """A token has ended, or a user may do less: what processes remember of it is void.

        They are told with the commit, and the answer waits until they have heard.
        """
        self.revokes = True
        await notify(self.db, CHANNEL)

    def get(self, kind: type[T]) -> T:
        """A service of this process by its type."""
        return self.services.get(kind)
