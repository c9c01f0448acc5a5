"""What a worker works with."""

from dataclasses import dataclass

from roost.jobs.faults import Faults
from roost.jobs.metrics import Metrics
from roost.jobs.queue import JobQueue
from roost.services import Services
from roost.settings import MAIN_HOST
from roost.store import Store
from roost.tracing import UNTRACED, Tracer


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """Seconds, unless said otherwise."""

    slots: int = 16
    """Jobs at the same time."""
    lease: float = 10.0
    """A worker that is silent for so long has been replaced."""
    grace: float = 3.0
    """What a running step has to end in when the worker stops."""
    retention: int = 30
    """Days for which jobs that have ended are kept."""
    host: str = MAIN_HOST
    """Whose jobs it runs."""

    @property
    def poll(self) -> float:
        """How often a worker looks for due jobs and lapsed leases without being told."""
        return min(1.0, self.lease / 10)

    @property
    def heartbeat(self) -> float:
        return self.lease / 3

    @property
    def written_lease(self) -> float:
        """Shorter than `lease` by the time that it may take others to notice and to begin."""
        return self.lease - 2 * self.poll


@dataclass(frozen=True, slots=True)
class Environment:
    """Shared by all jobs of a worker."""

    store: Store
    queue: JobQueue
    services: Services
    settings: WorkerSettings
    faults: Faults
    metrics: Metrics
    tracer: Tracer = UNTRACED
