"""What bodies name by an id: looked up together, before the transaction of the request begins.

The work itself locks what it needs, and finds out then what has gone meanwhile.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, cast

from roost.core.access import require_all
from roost.core.context import Context
from roost.core.entities.kind import ResourceKind
from roost.core.entities.queries import labels
from roost.core.grant_queries import Permission
from roost.errors import out_of_scope

K = TypeVar("K", int, str)
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Reference(Protocol[K, T_co]):
    """How a thing is found that a body names; the same object for all fields of that meaning."""

    async def find(self, context: Context, ids: Collection[K]) -> Mapping[K, T_co]:
        """What is known of those that the account has.

        Raises 401 for a token that may not name such, 403 for a restricted user who may not name
        one of them, whether it exists or not.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class OfKind:
    """A reference to an entity, of which the caller needs a grant; finds labels."""

    kind: ResourceKind
    level: Permission
    scopes: tuple[str, ...] = ()
    """What the token needs beside what the operation asks for."""

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, str]:
        if not context.identity.scopes.allow(self.scopes):
            raise out_of_scope()
        if self.kind.grantable:
            await require_all(context, self.kind.name, ids, self.level)
        return await labels(context.db, self.kind, context.account_id, ids)


@dataclass(slots=True)
class _Lookup(Generic[K, T]):
    reference: Reference[K, T]
    ids: set[K]
    found: Mapping[K, T] | None = None

    async def run(self, context: Context) -> None:
        self.found = await self.reference.find(context, self.ids)


class References:
    """What one body refers to: first all is collected, then found, then judged."""

    def __init__(self) -> None:
        self._lookups: dict[object, _Lookup[int, object] | _Lookup[str, object]] = {}

    def pending(self) -> bool:
        """Whether something was asked for that nobody has looked up."""
        return any(lookup.found is None for lookup in self._lookups.values())

    def find(self, reference: Reference[K, T], ids: Collection[K]) -> Mapping[K, T] | None:
        """Those that exist; None as long as they are only being collected."""
        # The lookup of a reference is of its types.
        lookups = cast(dict[Reference[K, T], _Lookup[K, T]], self._lookups)
        lookup = lookups.setdefault(reference, _Lookup(reference, set()))
        lookup.ids.update(ids)
        return lookup.found

    async def look_up(self, context: Context) -> None:
        """One kind after the other. Raises 401 or 403, as `Reference.find` does."""
        for lookup in self._lookups.values():
            await lookup.run(context)
