"""Zones that a small name server inside Roost answers."""

import asyncio
import errno
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

from dns.name import from_text

from roost.clock import Clock
from roost.core.engine import EngineError, Health
from roost.engines.listeners import (
    Listener,
    ListenerError,
    choose_listener,
    remembered_listener,
)
from roost.engines.locks import try_lock
from roost.engines.simulated.faults import FaultPlan
from roost.engines.simulated.nameserver.content import Content
from roost.engines.simulated.nameserver.server import NameServer
from roost.engines.simulated.nameserver.signing import ds_records, load_key, new_key
from roost.engines.simulated.nameserver.state import Zones, refuse_unreadable
from roost.engines.simulated.nameserver.transfers import Follower, notify
from roost.engines.simulated.state import StateFile
from roost.resources.domains.engine import (
    DsRecord,
    Master,
    NoZoneError,
    RejectedError,
    RRset,
    Slave,
    TransferStatus,
    Zone,
    ZoneChange,
    ZoneHead,
)
from roost.threads import COMPUTING

DomainOperation = Literal["put_zone", "put_rrsets", "delete_zone", "inspect", "retrieve"]
_POLL_SECONDS = 0.2


class SimulatedDomains:
    """A DomainEngine. Its state outlives the process (`domains.sqlite3`), its answers do not."""

    name = "simulated"
    underscored_hosts = True
    restarts = 0
    operations: tuple[DomainOperation, ...] = get_args(DomainOperation)

    def __init__(
        self, state_dir: Path, latency: float, clock: Clock, listeners: tuple[Listener, ...] | None
    ) -> None:
        """`latency`: seconds that each change takes; None as `listeners`: a free one on the
        loopback address."""
        self._directory = state_dir
        self._state = StateFile(state_dir / "domains.sqlite3")
        self._zones = Zones(self._state, clock)
        self._listeners = listeners
        self._server = NameServer(self._zones, self._heed)
        self._task: asyncio.Task[None] | None = None
        self.plan = FaultPlan(self._state, latency)

    @property
    def listening(self) -> tuple[tuple[str, int], ...]:
        return tuple((each.host, each.port) for each in self._where())

    async def start(self) -> None:
        """Answer queries, unless another process of this state does; then take over from it.

        Raises EngineError when the listeners that the operator wants are taken.
        """
        settled = asyncio.Event()
        self._task = asyncio.create_task(self._serve(settled))
        waiting = asyncio.create_task(settled.wait())
        await asyncio.wait((self._task, waiting), return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if self._task.done():
            self._task.result()

    async def put_zone(self, zone: Zone) -> None:
        await self._begin("put_zone", zone.name)
        await COMPUTING.run(_check, zone)
        held = await self._zones.read(zone.name)
        if held is not None and not _continues(held, zone):
            await self._forget(zone.name)
        signs = isinstance(zone.content, Master) and zone.content.dnssec
        await self._zones.set_key(zone.name, new_key if signs else None)
        await self._zones.change(zone.name, lambda _: zone)
        if isinstance(zone.content, Slave):
            await self._zones.follow(zone.name, zone.content.masters if zone.active else None)
            if not zone.active:
                await self._zones.set_copy(zone.name, None)
        await self._notify(zone)

    async def put_rrsets(self, change: ZoneChange) -> None:
        await self._begin("put_rrsets", change.zone)
        edited: list[Zone] = []

        def edit(held: Zone | None) -> Zone:
            zone = _edited(_active_master(held), change)
            _check(_touched(zone, change))
            edited.append(zone)
            return zone

        await self._zones.change(change.zone, edit)
        await self._notify(edited[-1])

    async def delete_zone(self, name: str, owner: str | None = None) -> None:
        await self._begin("delete_zone", name)
        held = await self._zones.read(name)
        if held is not None and owner in (None, held.owner):
            await self._forget(name)

    async def zones(self) -> list[ZoneHead]:
        return [ZoneHead(zone.name, zone.owner) for zone in await self._zones.all()]

    async def inspect(self, name: str) -> Zone | None:
        await self._fail_if_planned("inspect")
        zone = await self._zones.read(name)
        if zone is None or not isinstance(zone.content, Master):
            return zone
        rrsets = tuple(sorted(zone.content.rrsets, key=lambda rrset: rrset.key))
        return replace(zone, content=replace(zone.content, rrsets=rrsets))

    async def ds_records(self, name: str) -> list[DsRecord]:
        if await self._zones.read(name) is None:
            raise NoZoneError("The name server does not hold the zone")
        key = await self._zones.key(name)
        return [] if key is None else ds_records(from_text(name), load_key(key))

    async def transfer_status(self, name: str) -> TransferStatus:
        _active_slave(await self._zones.read(name))
        copy = await self._zones.copy(name)
        if copy is None:
            return TransferStatus(None)
        content = await COMPUTING.run(Content.of_text, name, copy.text)
        return TransferStatus(content.soa[0].serial)

    async def retrieve(self, name: str) -> None:
        await self._fail_if_planned("retrieve")
        _active_slave(await self._zones.read(name))
        await self._zones.set_due(name, due=True)

    async def health(self) -> Health:
        return Health(ok=True, detail="simulated")

    async def shut_down(self) -> None:
        await self._stop()

    async def close(self) -> None:
        await self._stop()
        self._state.close()

    async def snapshot(self) -> bytes:
        """Zones, keys, faults and latencies, for `restore`."""
        return await self._state.dump()

    async def restore(self, snapshot: bytes) -> None:
        """Go back to a snapshot. Raises ValueError when it is not one."""
        await self._state.load(snapshot)

    async def reset(self) -> None:
        """Forget all zones, faults and latencies."""
        await self._state.load(b"[]")

    async def _begin(self, operation: DomainOperation, zone: str) -> None:
        await self._fail_if_planned(operation)
        await self.plan.wait(operation, zone)

    async def _fail_if_planned(self, operation: DomainOperation) -> None:
        reason = await self.plan.reason(operation)
        if reason is not None:
            raise EngineError(reason)

    async def _forget(self, name: str) -> None:
        await self._zones.change(name, lambda _: None)
        await self._zones.follow(name, None)
        await self._zones.set_key(name, None)
        await self._zones.set_copy(name, None)

    async def _heed(self, name: str, sender: str) -> None:
        await self._zones.set_due(name, due=True, sender=sender)

    async def _notify(self, zone: Zone) -> None:
        await notify(zone, self._where()[0].host)

    def _where(self) -> tuple[Listener, ...]:
        return self._listeners or (remembered_listener(self._remembered),)

    @property
    def _remembered(self) -> Path:
        return self._directory / "domains.listener"

    async def _serve(self, settled: asyncio.Event) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            while not try_lock(descriptor):
                settled.set()
                await asyncio.sleep(_POLL_SECONDS)
            await self._open()
            settled.set()
            await Follower(self._zones, self._where()[0].host).run()
        finally:
            self._server.close()
            os.close(descriptor)

    async def _open(self) -> None:
        while True:
            try:
                return await self._server.open(self._where())
            except (OSError, ListenerError) as error:
                taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
                if self._listeners is not None or not taken:
                    raise EngineError(f"The name server cannot listen: {error}") from error
                choose_listener(self._remembered)

    async def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError, EngineError):
                await self._task
            self._task = None


def _check(zone: Zone) -> None:
    try:
        refuse_unreadable(zone)
    except ValueError as error:
        raise RejectedError(f"The name server refuses the zone: {error}") from error


def _continues(held: Zone, zone: Zone) -> bool:
    """Whether what belongs to the zone is kept."""
    return held.owner == zone.owner and type(held.content) is type(zone.content)


def _active_master(zone: Zone | None) -> Zone:
    if zone is None or not zone.active or not isinstance(zone.content, Master):
        raise NoZoneError("The name server holds no such master zone")
    return zone


def _active_slave(zone: Zone | None) -> None:
    if zone is None or not zone.active or not isinstance(zone.content, Slave):
        raise NoZoneError("The name server holds no such active slave zone")


def _touched(zone: Zone, change: ZoneChange) -> Zone:
    """No more of a zone than the names that a change is about."""
    assert isinstance(zone.content, Master)
    names = {rrset.name for rrset in change.put}
    rrsets = tuple(rrset for rrset in zone.content.rrsets if rrset.name in names)
    return replace(zone, content=replace(zone.content, rrsets=rrsets))


def _edited(zone: Zone, change: ZoneChange) -> Zone:
    assert isinstance(zone.content, Master)
    rrsets: dict[tuple[str, str], RRset] = {each.key: each for each in zone.content.rrsets}
    for key in change.drop:
        rrsets.pop(key, None)
    rrsets |= {each.key: each for each in change.put}
    content = replace(zone.content, soa=change.soa, rrsets=tuple(rrsets.values()))
    return replace(zone, content=content)
