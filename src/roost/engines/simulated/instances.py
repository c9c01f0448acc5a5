"""Guests that exist only as records: instant or as slow as asked, and failing on demand."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

from roost.clock import Clock
from roost.engines.simulated.faults import FaultPlan
from roost.engines.simulated.guests import (
    Guest,
    counters_at,
    crashed,
    dump_guest,
    load_guest,
    new_guest,
    powered_off,
    powered_on,
    ready,
    state_of,
)
from roost.engines.simulated.state import StateFile
from roost.resources.compute.engine import (
    Counters,
    EngineError,
    Health,
    InstanceSpec,
    InstanceState,
    NoDisksError,
)

Operation = Literal["create", "start", "stop", "delete", "inspect"]


class SimulatedInstances:
    """An InstanceEngine without guests. Its state outlives the process (`instances.sqlite3`)."""

    name = "simulated"
    operations: tuple[Operation, ...] = get_args(Operation)

    def __init__(self, state_dir: Path, latency: float, clock: Clock) -> None:
        """`latency`: seconds that each transition takes; counters follow `clock`."""
        self._state = StateFile(state_dir / "instances.sqlite3")
        self._clock = clock
        self.plan = FaultPlan(self._state, latency)

    async def create(self, spec: InstanceSpec) -> None:
        await self._fail_if_planned("create")
        guest = await self._change(spec.id, lambda guest: guest or new_guest(spec))
        if guest is not None and guest.ready:
            return
        await self.plan.wait("create")
        await self._change(spec.id, lambda guest: guest and ready(guest))

    async def start(self, spec: InstanceSpec) -> None:
        await self._fail_if_planned("start")
        guest = _made(await self._find(spec.id))
        if guest.started is not None:
            return
        await self.plan.wait("start")
        now = self._clock.now()

        def power_on(guest: Guest | None) -> Guest:
            made = _made(guest)
            return made if made.started else powered_on(made, spec, now)

        await self._change(spec.id, power_on)

    async def stop(self, compute_id: int, grace: float) -> None:
        await self._fail_if_planned("stop")
        guest = await self._find(compute_id)
        if guest is None or guest.started is None:
            return
        await self.plan.wait("stop", at_most=grace)
        await self._change(
            compute_id, lambda guest: powered_off(guest) if guest and guest.started else guest
        )

    async def delete(self, compute_id: int) -> None:
        await self._fail_if_planned("delete")
        if await self._find(compute_id) is None:
            return
        await self.plan.wait("delete")
        await self._change(compute_id, lambda _: None)

    async def inspect(self, compute_id: int) -> InstanceState | None:
        await self._fail_if_planned("inspect")
        guest = await self._find(compute_id)
        return None if guest is None else state_of(guest)

    async def list(self) -> list[InstanceState]:
        bodies = (await self._state.read_all("guest")).values()
        guests = sorted((load_guest(body) for body in bodies), key=lambda guest: guest.id)
        return [state_of(guest) for guest in guests]

    async def counters(self, compute_id: int) -> Counters | None:
        guest = await self._find(compute_id)
        return None if guest is None else counters_at(guest, self._clock.now())

    async def console(self, compute_id: int, limit: int) -> bytes:
        guest = await self._find(compute_id)
        text = b"" if guest is None else guest.console.encode()
        return text[max(0, len(text) - limit) :]

    async def health(self) -> Health:
        return Health(ok=True, detail="simulated")

    async def shut_down(self) -> None:
        for state in await self.list():
            await self.crash(state.id)

    async def close(self) -> None:
        self._state.close()

    async def crash(self, compute_id: int) -> None:
        """The guest goes off by itself and without a word, as a killed process would."""
        await self._change(compute_id, lambda guest: guest and crashed(guest))

    async def snapshot(self) -> bytes:
        """Guests, faults and latencies, for `restore`."""
        return await self._state.dump()

    async def restore(self, snapshot: bytes) -> None:
        """Go back to a snapshot. Raises ValueError when it is not one."""
        await self._state.load(snapshot)

    async def reset(self) -> None:
        """Forget all guests, faults and latencies."""
        await self._state.load(b"[]")

    async def _fail_if_planned(self, operation: Operation) -> None:
        reason = await self.plan.reason(operation)
        if reason is not None:
            raise EngineError(reason)

    async def _find(self, compute_id: int) -> Guest | None:
        body = await self._state.read("guest", str(compute_id))
        return None if body is None else load_guest(body)

    async def _change(
        self, compute_id: int, change: Callable[[Guest | None], Guest | None]
    ) -> Guest | None:
        """Returns the guest as it was before."""

        def change_body(body: str | None) -> str | None:
            guest = change(None if body is None else load_guest(body))
            return None if guest is None else dump_guest(guest)

        body = await self._state.change("guest", str(compute_id), change_body)
        return None if body is None else load_guest(body)


def _made(guest: Guest | None) -> Guest:
    if guest is None or not guest.ready:
        raise NoDisksError("The instance has no disks")
    return guest
