"""Hosts as the operator sees them, and what he does with them."""

from dataclasses import asdict, dataclass

from roost.app.terminal import Shown, fields
from roost.core.hosts import queries
from roost.core.hosts.holdings import NOTHING, spelled
from roost.core.hosts.queries import HostFacts
from roost.errors import OperatorError
from roost.jobs import host_queries as jobs
from roost.resources.compute import host_queries as instances
from roost.resources.compute.host_queries import HostRow
from roost.resources.nodebalancers import host_queries as balancers
from roost.resources.volumes import host_queries as volumes
from roost.settings import MAIN_HOST
from roost.store import Connection, Queries, Store


class HostError(OperatorError):
    """There is no such host, or that cannot be done with it."""


@dataclass(frozen=True, slots=True)
class ListedHost(HostRow):
    """A host with all that it has."""

    volumes: int
    nodebalancers: int
    promised_storage: int
    """MB"""


async def list_hosts(db: Queries, name: str | None = None) -> list[ListedHost]:
    """By name; one of them, or all."""
    of_instances, of_volumes = await instances.by_host(db), await volumes.by_host(db)
    balanced = await balancers.by_host(db)

    def listed(row: HostRow) -> ListedHost:
        disks, held = (each.get(row.name, NOTHING) for each in (of_instances, of_volumes))
        promised = disks.storage + held.storage
        return ListedHost(
            **asdict(row),
            volumes=held.count,
            nodebalancers=balanced.get(row.name, NOTHING).count,
            promised_storage=promised,
        )

    return [listed(row) for row in await instances.list_hosts(db, name)]


async def describe(db: Queries, name: str, limit: int) -> Shown:
    """With the first of its instances. Raises HostError."""
    found = await list_hosts(db, name)
    if not found:
        raise HostError(f"there is no host {name}")
    held = await instances.instances_of(db, name, 0, limit)
    return {**fields(found[0]), "held": [fields(each) for each in held]}


async def close(store: Store, name: str) -> None:
    """Place nothing on it from now on. Raises HostError."""
    await _change(store, name, "draining")


async def undrain(store: Store, name: str) -> None:
    """What is new may be placed on it again, and its worker may serve. Raises HostError."""
    await _change(store, name, "up")


async def _change(store: Store, name: str, state: queries.HostState) -> None:
    async def work(db: Connection) -> None:
        facts = await _lock(db, name)
        if facts.state == "fenced" and state != "up":
            raise HostError(f"host {name} is fenced: it has no worker")
        await queries.set_state(db, name, state)

    await store.commit(work)


async def remove(store: Store, name: str) -> None:
    """Forget a host that has nothing and is gone. Raises HostError."""

    async def work(db: Connection) -> None:
        facts = await _lock(db, name)
        if name == MAIN_HOST:
            raise HostError("the main host stays")
        if facts.alive:
            raise HostError(f"a worker of host {name} runs: stop it, and wait half a minute")
        [listed] = await list_hosts(db, name)
        had = {
            "instance": listed.instances + listed.coming,
            "volume": listed.volumes,
            "NodeBalancer": listed.nodebalancers,
        }
        if any(had.values()):
            raise HostError(f"host {name} has {spelled(had)}")
        await retire(db, name)
        await queries.forget(db, name)

    await store.commit(work)


async def retire(db: Queries, name: str) -> None:
    """Nobody expects anything of it any more."""
    await queries.serve_nothing(db, name)
    await jobs.forget_schedules(db, name)


async def check_silent(store: Store, name: str) -> None:
    """Only what nobody hears of may be dead. Raises HostError."""
    async with store.transaction() as db:
        _check_silent(await _lock(db, name))


def _check_silent(facts: HostFacts) -> None:
    if facts.name == MAIN_HOST:
        raise HostError("the main host cannot be fenced: the server is on it")
    if facts.alive:
        raise HostError(f"a worker of host {facts.name} runs: stop it, and wait half a minute")


async def _lock(db: Queries, name: str) -> HostFacts:
    facts = await queries.lock(db, name)
    if facts is None:
        raise HostError(f"there is no host {name}")
    return facts
