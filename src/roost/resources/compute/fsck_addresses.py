"""`roost fsck` of addresses: what instances show against what they hold."""

from collections.abc import AsyncIterator
from functools import partial

from roost.core.fsck import Finding, Installation
from roost.jobs.queue import JobQueue
from roost.resources.addresses import allocation
from roost.resources.compute import queries
from roost.resources.compute.entity import resource_of
from roost.resources.compute.queries import InstanceFacts
from roost.store import Queries


async def check_addresses(installation: Installation) -> AsyncIterator[Finding]:
    """IPv4 addresses of all instances, also of those that are gone."""
    held = await allocation.all_held(installation.store)
    shown = await queries.ipv4_by_id(installation.store)
    for compute_id in sorted({*held, *shown}):
        if sorted(held.get(compute_id, [])) == sorted(shown.get(compute_id, [])):
            continue
        async with installation.store.transaction() as db:
            row = await queries.lock_any(db, compute_id)
            text = await _compare(db, installation.get(JobQueue), compute_id, row)
        if text is not None:
            yield Finding(text, partial(_repair, installation, compute_id))


async def _compare(
    db: Queries, queue: JobQueue, compute_id: int, row: InstanceFacts | None
) -> str | None:
    """The difference in words; None when there is none, or a job works on the instance."""
    held = await _held(db, compute_id)
    if row is None:
        gone = f"instance {compute_id} does not exist, but holds {', '.join(held)}"
        return gone if held else None
    if sorted(held) == sorted(row.ipv4) or await queue.busy(db, resource_of(compute_id)):
        return None
    return f"instance {compute_id} shows {_words(row.ipv4)}, but holds {_words(held)}"


async def _repair(installation: Installation, compute_id: int) -> str:
    """An address that is shown and free goes back to its instance: the guest uses it."""
    queue = installation.get(JobQueue)
    async with installation.store.transaction() as db:
        row = await queries.lock_any(db, compute_id)
        if await _compare(db, queue, compute_id, row) is None:
            return "it is well by now"
        if row is None:
            await allocation.release(db, compute_id, queue.clock.now())
            return "released them"
        for address in set(row.ipv4) - set(await _held(db, compute_id)):
            await allocation.take_back(db, address, row.account_id, compute_id)
        held = await _held(db, compute_id)
        await queries.set_ipv4(db, compute_id, held)
    return f"it shows and holds {_words(held)}"


async def _held(db: Queries, compute_id: int) -> list[str]:
    return [str(address.interface.ip) for address in await allocation.held_by(db, compute_id)]


def _words(addresses: list[str]) -> str:
    return ", ".join(addresses) or "none"
