"""Figures of the jobs for Prometheus."""

from collections.abc import Iterable
from datetime import datetime

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge

from roost.jobs.model import Status
from roost.jobs.upkeep_queries import Count

_UNFINISHED: tuple[Status, ...] = ("queued", "running", "waiting")


class Metrics:
    """By kind: gauges of the whole database, counters of this process.

    Counters of the `kinds` that are known begin with 0: of one that begins with its first failure
    Prometheus sees no increase.
    """

    def __init__(self, registry: CollectorRegistry = REGISTRY, kinds: Iterable[str] = ()) -> None:
        self._jobs = Gauge("roost_jobs", "Unfinished jobs", ["kind", "status"], registry=registry)
        self._age = Gauge(
            "roost_job_queue_age_seconds",
            "Time since the oldest job that has not begun became due",
            ["kind"],
            registry=registry,
        )

        self._running = Gauge(
            "roost_job_running_age_seconds",
            "Time since the oldest job that has begun, and not ended, was begun",
            ["kind"],
            registry=registry,
        )
        self._raised: list[Gauge] = []
        """Those that `show` has set last."""
        self._seen: set[str] = set()
        """Kinds that have gauges."""
        known = tuple(kinds)

        def counter(name: str, text: str) -> Counter:
            made = Counter(name, text, ["kind"], registry=registry)
            for kind in known:
                made.labels(kind)
            return made

        self.retries = counter("roost_job_retries", "Attempts of steps and undos that failed")
        self.lost_leases = counter("roost_job_lost_leases", "Jobs taken from silent workers")
        self.finished = counter("roost_jobs_finished", "Jobs that ended well")
        self.failures = counter("roost_jobs_failed", "Jobs that failed")
        self.cancellations = counter("roost_jobs_cancelled", "Jobs that were stopped")
        self.undo_failures = counter("roost_job_undo_failures", "Jobs that left a trace behind")
        self.overdue = counter("roost_jobs_overdue", "Jobs that passed their deadline")

    def show(self, kinds: Iterable[str], counts: Iterable[Count], now: datetime) -> None:
        """Set the gauges."""
        running: dict[str, datetime] = {}
        self._begin_with_zeros(kinds)
        for count in counts:
            self._set(self._jobs.labels(count.kind, count.status), count.jobs)
            if count.status == "queued" and count.oldest:
                age = (now - count.oldest).total_seconds()
                self._set(self._age.labels(count.kind), age)
            if count.begun:
                running[count.kind] = min(count.begun, running.get(count.kind, now))
        for kind, begun in running.items():
            self._set(self._running.labels(kind), (now - begun).total_seconds())

    def _begin_with_zeros(self, kinds: Iterable[str]) -> None:
        """There are hundreds of gauges, and few of them have a value: the others stay as they are.
        One that is new shows 0."""
        for gauge in self._raised:
            gauge.set(0)
        self._raised.clear()
        for kind in set(kinds) - self._seen:
            self._seen.add(kind)
            self._age.labels(kind)
            self._running.labels(kind)
            for status in _UNFINISHED:
                self._jobs.labels(kind, status)

    def _set(self, gauge: Gauge, value: float) -> None:
        gauge.set(value)
        self._raised.append(gauge)
