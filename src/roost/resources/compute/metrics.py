"""Figures of instances for Prometheus."""

from prometheus_client import CollectorRegistry, Counter


class ComputeMetrics:
    """Counters of this process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._reboots = Counter(
            "roost_guest_reboots",
            "Guests that went off and are booted again: by themselves, or with their host",
            ("region", "action"),
            registry=registry,
        )

    def rebooted(self, region: str, action: str) -> None:
        """`action` is that of the event: lassie_reboot or host_reboot."""
        self._reboots.labels(region, action).inc()
