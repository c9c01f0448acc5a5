"""What becomes of an instance whose guest went off, or on, by itself."""

from collections.abc import Iterable
from datetime import timedelta

import structlog
from prometheus_client import CollectorRegistry, Counter

from roost.core import instance_queries
from roost.core.events import log
from roost.core.events import queries as events
from roost.core.instance_queries import InstanceFacts
from roost.core.neighbours import Neighbours
from roost.jobs.queue import JobQueue
from roost.resources.compute.engine import InstanceState
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.jobs import BOOT, start_boot
from roost.services import Services
from roost.store import Queries


class ComputeMetrics:
    """Counters of this process; those of the `regions` begin with 0."""

    def __init__(self, registry: CollectorRegistry, regions: Iterable[str]) -> None:
        self._reboots = Counter(
            "roost_guest_reboots",
            "Guests that went off and are booted again: by themselves, or with their host",
            ("region", "action"),
            registry=registry,
        )
        for region in regions:
            for action in (_WATCHDOG, _HOST):
                self._reboots.labels(region, action)

    def rebooted(self, region: str, action: str) -> None:
        """`action` is that of the event: lassie_reboot or host_reboot."""
        self._reboots.labels(region, action).inc()


_WATCHDOG, _HOST = "lassie_reboot", "host_reboot"
"""Events of boots: after a guest went off by itself, and after its host did."""
_TRIES, _PERIOD = 5, timedelta(minutes=15)
"""A guest that goes off again and again is left alone in the end."""

_HOST_STOPPED = "The host was stopped while the instance ran."
_WENT_OFF = "The instance went off by itself."
_NO_WATCHDOG = "Its watchdog is off, so it is not booted again."
_MINUTES = _PERIOD // timedelta(minutes=1)

_log = structlog.get_logger(__name__)


async def follow_power(
    db: Queries, services: Services, row: InstanceFacts, guest: InstanceState
) -> str:
    """Let an instance's status follow its guest, or have it booted again.

    The caller holds the row, on which no job works. Returns what was done.
    """
    if guest.power == "running":
        await instance_queries.set_status(db, row.id, "running", services.get(JobQueue).clock.now())
        return "set its status to running"
    cause = _HOST_STOPPED if guest.interrupted else _WENT_OFF
    if not row.watchdog_enabled:
        return await _leave_off(db, services, row, f"{cause} {_NO_WATCHDOG}")
    if guest.interrupted:
        return await _boot(db, services, row, _HOST, cause)
    tries = await _tries(db, services, row)
    if tries < _TRIES:
        text = f"{cause} Try {tries + 1} of {_TRIES} within {_MINUTES} minutes."
        return await _boot(db, services, row, _WATCHDOG, text)
    text = f"{cause} Its watchdog has booted it {tries} times within {_MINUTES} minutes and stops."
    return await _leave_off(db, services, row, text)


async def _tries(db: Queries, services: Services, row: InstanceFacts) -> int:
    entity, since = COMPUTE.of(row), services.get(JobQueue).clock.now() - _PERIOD
    return await events.count_since(db, row.account_id, entity, _WATCHDOG, since)


async def _boot(db: Queries, services: Services, row: InstanceFacts, action: str, why: str) -> str:
    by = log.Starter(services.get(JobQueue), db, row.account_id)
    await start_boot(by, BOOT, row, action=action, message=why)
    services.get(ComputeMetrics).rebooted(row.region, action)
    _log.info("guest_booted_again", instance=row.id, region=row.region, action=action, reason=why)
    return "it is booted again"


async def _leave_off(db: Queries, services: Services, row: InstanceFacts, why: str) -> str:
    by = log.Starter(services.get(JobQueue), db, row.account_id)
    await instance_queries.set_status(db, row.id, "offline", by.queue.clock.now())
    await services.get(Neighbours).went_off(db, services, row.id)
    await log.notify(by, "compute_shutdown", COMPUTE.of(row), message=why)
    _log.warning("guest_left_off", instance=row.id, region=row.region, reason=why)
    return "set its status to offline"
