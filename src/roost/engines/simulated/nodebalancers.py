"""NodeBalancers that exist only as records; their nodes serve while simulated guests run.

What guests of other hosts do is not seen from here: their nodes serve.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter

from roost.core.engine import Health
from roost.engines.simulated.overlay import remote_addresses
from roost.engines.simulated.plane import Plane
from roost.engines.simulated.shelves import GUESTS
from roost.engines.simulated.state import Documents
from roost.resources.nodebalancers.engine import (
    BalancerSpec,
    BalancerState,
    BalancerTraffic,
    NodeStatus,
)

_KIND = "nodebalancer"
_EPOCH = "simulated"


@dataclass(frozen=True, slots=True)
class _Node:
    id: int
    address: str
    checked: bool
    rejects: bool


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is known of one; keys are not."""

    id: int
    digest: str
    address: str
    nodes: tuple[_Node, ...]
    connections: int = 0
    bytes_in: int = 0
    bytes_out: int = 0


_BODY = TypeAdapter(_Kept)


class SimulatedBalancers:
    """A BalancerEngine for the guests of a SimulatedInstances with the same `state_dir`."""

    name = "simulated"

    def __init__(self, state_dir: Path, latency: float) -> None:
        """`latency`: seconds that each change takes."""
        self._plane = Plane(state_dir, latency)

    async def apply(self, balancer: BalancerSpec) -> None:
        await self._plane.fail_if_planned("nodebalancer_apply")
        await self._plane.plan.wait("nodebalancer_apply", str(balancer.id))
        await self._plane.transact(lambda documents: _apply(documents, balancer))

    async def remove(self, balancer_id: int) -> None:
        await self._plane.fail_if_planned("nodebalancer_remove")
        await self._plane.plan.wait("nodebalancer_remove", str(balancer_id))
        await self._plane.transact(lambda documents: _put(documents, balancer_id, None))

    async def inspect(self, balancer_id: int) -> BalancerState | None:
        await self._plane.fail_if_planned("nodebalancer_list")
        found = await self._plane.transact(lambda documents: _find(documents, balancer_id))
        return None if found is None else BalancerState(found.id, found.digest)

    async def list(self) -> list[BalancerState]:
        await self._plane.fail_if_planned("nodebalancer_list")
        return [BalancerState(each.id, each.digest) for each in await self._plane.survey(_all)]

    async def statuses(self) -> Mapping[int, NodeStatus]:
        await self._plane.fail_if_planned("nodebalancer_list")
        return await self._plane.survey(_statuses)

    async def traffic(self) -> Mapping[int, BalancerTraffic]:
        await self._plane.fail_if_planned("nodebalancer_list")
        return {
            each.id: BalancerTraffic(_EPOCH, each.connections, each.bytes_in, each.bytes_out)
            for each in await self._plane.survey(_all)
        }

    async def keep_serving(self) -> None:
        """Records end by nobody."""

    async def health(self) -> Health:
        return Health(ok=True, detail="simulated")

    async def close(self) -> None:
        self._plane.state.close()

    async def shut_down(self) -> None:
        """Records are of no use to anybody meanwhile."""

    async def use(self, balancer_id: int, connections: int, received: int, sent: int) -> None:
        """Clients come, and move so many bytes."""

        def work(documents: Documents) -> None:
            found = _find(documents, balancer_id)
            assert found is not None
            used = replace(
                found,
                connections=found.connections + connections,
                bytes_in=found.bytes_in + received,
                bytes_out=found.bytes_out + sent,
            )
            _put(documents, balancer_id, used)

        await self._plane.transact(work)

    async def lose(self, balancer_id: int) -> None:
        """It vanishes, as something would that somebody ends."""
        await self._plane.transact(lambda documents: _put(documents, balancer_id, None))


def _apply(documents: Documents, balancer: BalancerSpec) -> None:
    nodes = tuple(
        _Node(node.id, node.address, config.check.kind != "none", node.mode == "reject")
        for config in balancer.configs
        for node in config.nodes
    )
    fresh = _Kept(balancer.id, balancer.digest, balancer.address, nodes)
    before = _find(documents, balancer.id) or fresh
    kept = replace(before, digest=fresh.digest, address=fresh.address, nodes=fresh.nodes)
    _put(documents, balancer.id, kept)


def _statuses(documents: Documents) -> dict[int, NodeStatus]:
    held = {
        str(address)
        for guest in GUESTS.all(documents)
        if guest.started is not None and guest.addresses is not None
        for address in guest.addresses.ipv4
    } | remote_addresses(documents)
    found = dict[int, NodeStatus]()
    for balancer in _all(documents):
        for node in balancer.nodes:
            serves: NodeStatus = "UP" if node.address in held and not node.rejects else "DOWN"
            found[node.id] = serves if node.checked else "Unknown"
    return found


def _put(documents: Documents, balancer_id: int, kept: _Kept | None) -> None:
    body = None if kept is None else _BODY.dump_json(kept).decode()
    documents.write(_KIND, str(balancer_id), body)


def _find(documents: Documents, balancer_id: int) -> _Kept | None:
    body = documents.read(_KIND, str(balancer_id))
    return None if body is None else _BODY.validate_json(body)


def _all(documents: Documents) -> list[_Kept]:
    bodies = documents.read_all(_KIND).values()
    return sorted(map(_BODY.validate_json, bodies), key=lambda each: each.id)
