"""Prometheus metrics of the HTTP edge, by operation."""

from prometheus_client import CollectorRegistry, Counter, Histogram

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class EdgeMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "roost_http_requests", "Requests answered", ("operation", "status"), registry=registry
        )
        self._seconds = Histogram(
            "roost_http_request_seconds",
            "Time to answer",
            ("operation",),
            buckets=_BUCKETS,
            registry=registry,
        )
        self._counters: dict[tuple[str, int], Counter] = {}
        self._timers: dict[str, Histogram] = {}

    def observe(self, operation: str, status: int, seconds: float) -> None:
        counter = self._counters.get((operation, status))
        if counter is None:
            counter = self._requests.labels(operation, str(status))
            self._counters[operation, status] = counter
        counter.inc()
        timer = self._timers.get(operation)
        if timer is None:
            timer = self._timers[operation] = self._seconds.labels(operation)
        timer.observe(seconds)
