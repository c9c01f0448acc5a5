"""What the API needs of the process around it."""

from dataclasses import dataclass

from roost.clock import Clock
from roost.services import Services
from roost.store import Store
from roost.web.access_log import AccessLog
from roost.web.auth import Authenticator, UsageRecorder
from roost.web.metrics import EdgeMetrics
from roost.web.rates import RateLimiter
from roost.web.registry import Registry
from roost.web.revisions.revisions import Revisions
from roost.web.revocation import Revocations
from roost.web.turns import Turns


@dataclass(frozen=True, slots=True)
class Edge:
    """All applications of one process share it: whoever has used up a limit has done so at all."""

    registry: Registry
    revisions: Revisions
    store: Store
    beside: Store
    """For short looks while a transaction of `store` is open."""
    services: Services
    clock: Clock
    authenticator: Authenticator
    revocations: Revocations
    limiter: RateLimiter
    turns: Turns
    metrics: EdgeMetrics
    access_log: AccessLog | None
    usage: UsageRecorder
    max_body: int
