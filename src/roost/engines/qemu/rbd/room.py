"""How a cluster is, and whether it takes new data.

A client of a full cluster is not refused: it waits until there is room, `rbd` even when it only
looks. So that is asked first, of the monitors, which still answer.
"""

from dataclasses import dataclass

from pydantic import BaseModel

from roost.core.engine import FullError, Health
from roost.engines.qemu.rbd.cluster import Cluster

_FULL = ("OSD_FULL", "POOL_FULL")
_NEARLY = ("OSD_BACKFILLFULL", "OSD_NEARFULL", "POOL_NEAR_FULL")
_ASKING = "It is not known how it is"


class _Text(BaseModel):
    message: str


class _Check(BaseModel):
    detail: list[_Text]


class _Said(BaseModel):
    status: str
    checks: dict[str, _Check]


@dataclass(frozen=True, slots=True)
class Condition:
    """What the monitors say."""

    status: str
    """Such as `HEALTH_OK`."""
    checks: tuple[str, ...]
    """What they complain of, such as `OSD_DOWN`; of pools only ours."""

    @property
    def full(self) -> bool:
        return any(each in _FULL for each in self.checks)

    @property
    def nearly_full(self) -> bool:
        return any(each in _NEARLY for each in self.checks)


async def ask_condition(cluster: Cluster, doing: str = _ASKING) -> Condition:
    """Raises EngineError."""
    text = await cluster.ceph(doing, "health", "detail", "--format", "json")
    said = _Said.model_validate_json(text)
    ours = (name for name, check in said.checks.items() if _concerns(cluster, name, check))
    return Condition(said.status, tuple(ours))


async def check_room(cluster: Cluster, doing: str) -> None:
    """FullError where what is to be made could fill the cluster."""
    condition = await ask_condition(cluster, doing)
    if condition.full:
        raise FullError(f"{doing}: the storage cluster is full")
    if condition.nearly_full:
        raise FullError(f"{doing}: the storage cluster is nearly full")


async def health(cluster: Cluster) -> Health:
    """A full cluster serves nobody who writes."""
    condition = await ask_condition(cluster)
    said = ", ".join((condition.status, *condition.checks))
    return Health(not condition.full, f"Ceph pool {cluster.pool}: {said}")


def _concerns(cluster: Cluster, name: str, check: _Check) -> bool:
    pool = f"'{cluster.pool}'"
    return not name.startswith("POOL_") or any(pool in each.message for each in check.detail)
