"""`roost fsck` of addresses: what instances show against what they hold."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from roost.core import instance_queries
from roost.core.addresses.queries import all_held, release, take_back
from roost.core.addresses.service import held_by
from roost.core.fsck import Finding, Installation
from roost.core.instance_queries import InstanceFacts
from roost.core.reconcile import Case, ChangedError, Reconciler
from roost.resources.compute import address_queries
from roost.resources.compute.locks import resource_of
from roost.store import Queries


async def check_addresses(installation: Installation) -> AsyncIterator[Finding]:
    """IPv4 addresses of all instances, also of those that are gone."""
    async for finding in _Addresses(installation).findings("the addresses of instances"):
        yield finding


@dataclass(frozen=True, slots=True)
class _Rows:
    row: InstanceFacts | None
    held: list[str]


_Case: TypeAlias = Case[int, _Rows, None, str]


@dataclass(frozen=True, slots=True)
class _Addresses(Reconciler[int, _Rows, None, str]):
    """No engine has a part in it."""

    async def held(self) -> Mapping[int, None]:
        return {}

    async def page(
        self, held: Mapping[int, None], after: int | None, limit: int
    ) -> Mapping[int, bool]:
        """With the addresses of instances between those of the page."""
        store, first = self.installation.store, after or 0
        shown = await address_queries.ipv4_by_id(store, first, limit)
        last = max(shown) if len(shown) == limit else None
        owned = await all_held(store, first, last)
        keys = sorted({*shown, *owned})
        return {key: sorted(shown.get(key, [])) != sorted(owned.get(key, [])) for key in keys}

    async def read(self, db: Queries, key: int) -> _Rows:
        row = await instance_queries.lock_any(db, key)
        if row is not None and await self.queue.busy(db, resource_of(key)):
            raise ChangedError
        return _Rows(row, await _held(db, key))

    async def look(self, key: int, rows: _Rows) -> _Case | None:
        row, held = rows.row, rows.held
        if sorted(held) == sorted([] if row is None else row.ipv4):
            return None
        if row is None:
            text = f"instance {key} does not exist, but holds {_words(held)}"
        else:
            text = f"instance {key} shows {_words(row.ipv4)}, but holds {_words(held)}"
        return Case(key, rows, None, text)

    def describe(self, case: _Case) -> str:
        return case.drift

    async def mend(self, case: _Case) -> str:
        """An address that is shown and free goes back to its instance: the guest uses it."""
        row = case.rows.row
        async with self.holding(case) as db:
            if row is None:
                await release(db, case.key, self.queue.clock.now())
                return "released them"
            for address in set(row.ipv4) - set(case.rows.held):
                await take_back(db, address, row.account_id, row.id)
            held = await _held(db, row.id)
            await address_queries.set_ipv4(db, row.id, held)
        return f"it shows and holds {_words(held)}"


async def _held(db: Queries, compute_id: int) -> list[str]:
    return [str(address.interface.ip) for address in await held_by(db, compute_id)]


def _words(addresses: list[str]) -> str:
    return ", ".join(addresses) or "none"
