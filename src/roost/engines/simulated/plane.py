"""What the simulated engines of one region share: their state, planned faults and latencies."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeVar

from roost.core.engine import EngineError
from roost.engines.simulated.faults import FaultPlan
from roost.engines.simulated.state import Documents, StateFile
from roost.waiting import NotYetError, is_leaving, stay

Operation = Literal[
    "start",
    "stop",
    "delete",
    "take",
    "pack",
    "unpack",
    "live_offer",
    "live_receive",
    "live_send",
    "live_enter",
    "live_turn_away",
    "live_stay",
    "inspect",
    "disk_make",
    "disk_resize",
    "disk_copy",
    "disk_delete",
    "disk_inspect",
    "backup_save",
    "backup_restore",
    "backup_delete",
    "addresses_set",
    "addresses_list",
    "overlay_set",
    "image_capture",
    "image_set_aside",
    "image_finish",
    "image_keep",
    "image_delete",
    "firewall_apply",
    "firewall_remove",
    "firewall_list",
    "nodebalancer_apply",
    "nodebalancer_remove",
    "nodebalancer_list",
    "volume_create",
    "volume_copy",
    "volume_resize",
    "volume_delete",
    "volume_plug",
    "volume_unplug",
    "volume_take",
    "volume_pack",
    "volume_unpack",
    "volume_inspect",
    "database_create",
    "database_ensure",
    "database_rebuild",
    "database_rest",
    "database_restart",
    "database_allow",
    "database_password",
    "database_limit",
    "database_free",
    "database_backup",
    "database_archive",
    "database_verify",
    "database_restore",
    "database_backup_delete",
    "database_delete",
    "database_inspect",
    "bucket_put",
    "bucket_close",
    "bucket_delete",
    "bucket_purge",
    "key_put",
    "key_delete",
]

_Result = TypeVar("_Result")


class Plane:
    """The state of a region, which outlives the process (`state.sqlite3`)."""

    def __init__(self, state_dir: Path, latency: float) -> None:
        """`latency`: seconds that each operation takes."""
        self.state = StateFile(state_dir / "state.sqlite3")
        self.plan: FaultPlan = FaultPlan(self.state, latency)

    async def fail_if_planned(self, operation: Operation) -> None:
        reason = await self.plan.reason(operation)
        if reason is not None:
            raise EngineError(reason)

    async def begin(self, operation: Operation, work: Callable[[Documents], _Result]) -> _Result:
        """Both at the start of an operation: fail if that is planned, else do `work`."""

        def fail_or_work(documents: Documents) -> str | tuple[_Result]:
            reason = self.plan.use(documents, operation)
            return (work(documents),) if reason is None else reason

        outcome = await self.state.transact_few(fail_or_work)
        if isinstance(outcome, str):
            raise EngineError(outcome)
        return outcome[0]

    async def perform(
        self,
        operation: Operation,
        key: str,
        begin: Callable[[Documents], bool],
        end: Callable[[Documents], None],
    ) -> None:
        """An operation that takes its time: nothing where `begin` says that all is done, else `end`
        when that has passed.

        For a job each try is one transaction.
        """
        if not is_leaving():
            if await self.begin(operation, begin):
                await self.plan.wait(operation, key)
                await self.transact(end)
            return

        def work(documents: Documents) -> tuple[float, float]:
            if not begin(documents):
                return 0, 0
            seconds, passed = self.plan.clock(documents, operation, key)
            if passed >= seconds:
                end(documents)
            return seconds, passed

        seconds, passed = await self.begin(operation, work)
        if passed < seconds:
            raise NotYetError(seconds - passed)
        if seconds:
            stay()

    async def transact(self, work: Callable[[Documents], _Result]) -> _Result:
        """Run work on a few documents in a transaction."""
        return await self.state.transact_few(work)

    async def survey(self, work: Callable[[Documents], _Result]) -> _Result:
        """Run work on however many documents there are of a kind."""
        return await self.state.transact(work)
