"""Guests that exist only as records: instant or as slow as asked, and failing on demand."""

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import get_args

from roost.clock import Clock
from roost.core.engine import EngineError, Health
from roost.engines.simulated import guests, moves
from roost.engines.simulated.addresses import SimulatedAddresses
from roost.engines.simulated.backups import SimulatedBackups
from roost.engines.simulated.disks import SimulatedDisks
from roost.engines.simulated.images import SimulatedImages
from roost.engines.simulated.live import SimulatedLive
from roost.engines.simulated.metadata import SimulatedMetadata
from roost.engines.simulated.overlay import SimulatedOverlay
from roost.engines.simulated.packets import Arrival, arrival
from roost.engines.simulated.plane import Operation, Plane
from roost.engines.simulated.segments import Port, hearers
from roost.engines.simulated.shelves import DISKS, GUESTS, Guest
from roost.engines.simulated.state import Documents
from roost.engines.simulated.terminal import open_terminal
from roost.resources.compute.engine import (
    Counters,
    InstanceEngine,
    InstanceSpec,
    InstanceState,
)


class SimulatedInstances:
    """An InstanceEngine without guests; its state outlives the process.

    That state, faults and latencies are the whole region's, SimulatedVolumes share them.
    """

    name = "simulated"
    operations: tuple[Operation, ...] = get_args(Operation)

    def __init__(self, state_dir: Path, latency: float, clock: Clock) -> None:
        """`latency`: seconds that each operation takes; counters follow `clock`."""
        self._plane = Plane(state_dir, latency)
        self._clock = clock
        self.plan = self._plane.plan
        self.disks = SimulatedDisks(self._plane)
        self.backups = SimulatedBackups(self._plane)
        self.addresses = SimulatedAddresses(self._plane)
        self.metadata = SimulatedMetadata()
        self.overlay = SimulatedOverlay(self._plane)
        self.images = SimulatedImages(self._plane)
        self.live = SimulatedLive(self._plane, state_dir)
        self._ended: asyncio.Queue[int] | None = None

    async def start(self, spec: InstanceSpec) -> None:
        await self._plane.fail_if_planned("start")
        guest = await self._find(spec.id)
        if guest is not None and guest.started is not None:
            return
        await self._plane.transact(lambda documents: guests.check_devices(documents, spec))
        await self.plan.wait("start", str(spec.id))
        now = self._clock.now()
        await self._plane.transact(lambda documents: guests.power_on(documents, spec, now))

    async def stop(self, compute_id: int, grace: float) -> None:
        await self._plane.fail_if_planned("stop")
        guest = await self._find(compute_id)
        if guest is None or guest.started is None:
            return
        await self.plan.wait("stop", str(compute_id), at_most=grace)
        await self._end(compute_id, guests.power_off)

    async def delete(self, compute_id: int) -> None:
        await self._plane.fail_if_planned("delete")
        await self.live.turn_away(compute_id)
        if await self._state(compute_id) is None:
            return
        await self.plan.wait("delete", str(compute_id))
        await self._end(compute_id, guests.remove)

    async def take(self, compute_id: int, source: InstanceEngine, backups: Collection[int]) -> None:
        await self._plane.fail_if_planned("take")
        if not isinstance(source, SimulatedInstances):
            raise EngineError(f"A guest of {source.name} cannot become a simulated one")
        left = source._plane
        found = await left.transact(lambda documents: moves.read(documents, compute_id, backups))
        await self.plan.wait("take", str(compute_id))
        await self._plane.transact(lambda documents: moves.write(documents, found))
        await left.transact(lambda documents: moves.remove(documents, found))

    async def pack(
        self, compute_id: int, backups: Collection[int], *, guest: bool = True
    ) -> AsyncGenerator[bytes, None]:
        await self._plane.fail_if_planned("pack")
        found = await self._plane.transact(
            lambda documents: moves.read(documents, compute_id if guest else None, backups)
        )
        await self.plan.wait("pack", str(compute_id))
        yield moves.MOVED.dump_json(found)

    async def unpack(
        self, compute_id: int, backups: Collection[int], content: AsyncIterator[bytes]
    ) -> None:
        await self._plane.fail_if_planned("unpack")
        found = moves.MOVED.validate_json(b"".join([piece async for piece in content]))
        await self._plane.transact(lambda documents: moves.write(documents, found))

    async def inspect(self, compute_id: int) -> InstanceState | None:
        await self._plane.fail_if_planned("inspect")
        return await self._state(compute_id)

    async def list(self) -> list[InstanceState]:
        return await self._plane.survey(_all_states)

    async def endings(self) -> AsyncGenerator[int, None]:
        """Only of what this very object does."""
        ended = self._ended = asyncio.Queue[int]()
        try:
            while True:
                yield await ended.get()
        finally:
            self._ended = None

    async def counters(self) -> Mapping[int, Counters]:
        now = self._clock.now()
        return await self._plane.survey(lambda documents: guests.counters_at(documents, now))

    async def console(self, compute_id: int, limit: int) -> bytes:
        guest = await self._find(compute_id)
        text = b"" if guest is None else guest.console.encode()
        return text[max(0, len(text) - limit) :]

    async def terminal(self, compute_id: int) -> socket.socket:
        guest = await self._find(compute_id)
        if guest is None or guest.started is None:
            raise EngineError("Its terminal does not answer: the guest is off")
        return await open_terminal(f"guest-{compute_id}")

    async def health(self) -> Health:
        return Health(ok=True, detail="simulated")

    async def host(self) -> None:
        """There is none."""

    async def shut_down(self) -> None:
        for state in await self.list():
            await self._end(state.id, partial(guests.power_off, last_output="", interrupted=True))

    async def close(self) -> None:
        self._plane.state.close()

    async def crash(self, compute_id: int) -> None:
        """The guest goes off by itself and without a word, as a killed process would."""
        await self._end(compute_id, partial(guests.power_off, last_output=""))

    async def hearers(self, sender: Port, mac: str) -> set[Port]:
        """Who gets what a guest's interface to a VLAN sends to everybody."""
        found = await self._plane.survey(GUESTS.all)
        return hearers(found, sender, mac)

    async def arrival(self, sender: Port, source: str, target: str) -> Arrival | None:
        """What becomes of an IPv4 packet from a guest's public interface or one in a VPC."""
        found = await self._plane.survey(GUESTS.all)
        return arrival(found, sender, source, target)

    async def snapshot(self) -> bytes:
        """Guests, disks, backups, volumes, faults and latencies, for `restore`."""
        return await self._plane.state.dump()

    async def restore(self, snapshot: bytes) -> None:
        """Go back to a snapshot. Raises ValueError when it is not one."""
        await self._plane.state.load(snapshot)

    async def reset(self) -> None:
        """Forget everything."""
        await self._plane.state.load(b"[]")

    async def _end(self, compute_id: int, end: Callable[[Documents, int], bool]) -> None:
        """Let `end` put a guest off, and tell it if it ran."""
        ran = await self._plane.transact(lambda documents: end(documents, compute_id))
        if ran and self._ended is not None:
            self._ended.put_nowait(compute_id)

    async def _find(self, compute_id: int) -> Guest | None:
        return await self._plane.transact(lambda documents: GUESTS.find(documents, compute_id))

    async def _state(self, compute_id: int) -> InstanceState | None:
        return await self._plane.transact(
            lambda documents: guests.state_of(
                GUESTS.find(documents, compute_id), DISKS.all(documents, compute_id)
            )
        )


def _all_states(documents: Documents) -> list[InstanceState]:
    found = {guest.id: guest for guest in GUESTS.all(documents)}
    disks = sorted(DISKS.all(documents), key=lambda disk: disk.compute_id)
    held = {owner: list(owned) for owner, owned in groupby(disks, lambda disk: disk.compute_id)}
    states = (
        guests.state_of(found.get(each), held.get(each, [])) for each in sorted({*found, *held})
    )
    return [state for state in states if state is not None]
