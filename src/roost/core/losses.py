"""What a data plane has lost behind our back, such as filters that somebody flushed: a watch ends
it within its round, and operators hear of it, as it was missing until then."""

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from itertools import product
from typing import TypeVar

import structlog
from prometheus_client import CollectorRegistry, Counter

from roost.core.conditions import Condition
from roost.core.context import Context
from roost.core.engine import EngineError
from roost.core.reconcile import Case, Reconciler
from roost.jobs import upkeep_queries
from roost.jobs.kinds import JobArgs
from roost.jobs.run import Run
from roost.jobs.verdicts import Verdict, next_step

KINDS = ("filters_lost", "firewalls_lost")
_STEP = "look"
"""Of each watch: it keeps how much was lost, by region."""
_LATELY = timedelta(hours=1)
_SHOWN = 10
"""Differences that a line of the log names."""

_log = structlog.get_logger(__name__)

Key = TypeVar("Key", int, str)
Rows = TypeVar("Rows")
Seen = TypeVar("Seen")
Drift = TypeVar("Drift")


class Losses:
    """What this process has found."""

    def __init__(self, registry: CollectorRegistry, regions: Iterable[str]) -> None:
        self._lost = Counter(
            "roost_lost",
            "Filters of guests, or firewalls, that were gone from a data plane and brought back",
            ("region", "kind"),
            registry=registry,
        )
        self.firewalls: dict[str, frozenset[int]] = {}
        """What filtered in each region after the last round: only that can be lost. A host that
        was down has none, and gets them from the watch."""
        for region, kind in product(regions, KINDS):
            self._lost.labels(region, kind)

    def lost(self, region: str, kind: str, count: int) -> None:
        """`kind` is that of the condition."""
        self._lost.labels(region, kind).inc(count)


async def watch(
    run: Run[JobArgs],
    kind: str,
    reconcilers: Mapping[str, Reconciler[Key, Rows, Seen, Drift]],
    is_lost: Callable[[Case[Key, Rows, Seen, Drift]], bool],
) -> Verdict:
    """The step `look` of a watch: end all differences, and tell of those that are losses."""
    found = dict[str, int]()
    for region, reconciler in reconcilers.items():
        lost = list[str]()
        try:
            async for case, fault in reconciler.mend_each():
                if fault is not None:
                    _failed(run, region, fault)
                if is_lost(case):
                    lost.append(reconciler.describe(case))
        except EngineError as error:
            _failed(run, region, error)
        if lost:
            found[region] = len(lost)
            _log.warning(kind, region=region, count=len(lost), differences=lost[:_SHOWN])
            run.tools.services.get(Losses).lost(region, kind, len(lost))
    return next_step(result=found or None)


def _failed(run: Run[JobArgs], region: str, error: EngineError) -> None:
    _log.warning(f"{run.job.kind}_failed", region=region, reason=str(error))


async def lately(context: Context, kind: str, job: str, what: str) -> list[Condition]:
    """Regions in which the watch `job` came upon losses of `what` within the last hour."""
    since = context.clock.now() - _LATELY
    lost = await upkeep_queries.sums_of_results(context.db, job, _STEP, since)
    return [
        Condition(
            kind,
            region,
            "critical",
            f"{count} times within the last hour {what} were gone from the hosts of the region"
            f" {region}, as if somebody had removed them. They were brought back within a minute;"
            f" the log has which ({kind}).",
        )
        for region, count in lost.items()
    ]
