"""What an engine is to hold of a NodeBalancer, and bringing it there.

Several processes may do so at once. Each reads the rows again when it is done, and begins anew when
they have changed: whoever is last has put in force what the rows say.
"""

from collections import defaultdict

from roost.core.planes import Engines
from roost.resources.nodebalancers import config_queries, node_queries, queries
from roost.resources.nodebalancers.config_queries import ConfigFacts
from roost.resources.nodebalancers.engine import (
    BALANCER_PLANE,
    BalancerEngine,
    BalancerSpec,
    CheckSpec,
    ConfigSpec,
    NodeSpec,
    NodeStatus,
)
from roost.resources.nodebalancers.node_queries import NodeFacts
from roost.resources.nodebalancers.queries import BalancerFacts
from roost.secrets import Box
from roost.services import Services
from roost.store import Queries


async def wanted(db: Queries, services: Services, row: BalancerFacts) -> BalancerSpec | None:
    """What the engine holds of it; None for nothing."""
    if row.deleting or row.resting:
        return None
    nodes = defaultdict[int, list[NodeFacts]](list)
    for node in await node_queries.served_by(db, row.id):
        nodes[node.config_id].append(node)
    box = services.get(Box)
    configs = tuple(
        _config(box, each, nodes[each.id]) for each in await config_queries.of_balancer(db, row.id)
    )
    return BalancerSpec(row.id, row.account_id, row.address, row.client_conn_throttle, configs)


def _config(box: Box, row: ConfigFacts, nodes: list[NodeFacts]) -> ConfigSpec:
    tls = row.protocol == "https" and row.private_key is not None
    return ConfigSpec(
        id=row.id,
        port=row.port,
        protocol=row.protocol,
        algorithm=row.algorithm,
        stickiness=row.stickiness,
        check=CheckSpec(
            kind=row.check,
            interval=row.check_interval,
            timeout=row.check_timeout,
            attempts=row.check_attempts,
            path=row.check_path,
            body=row.check_body,
            passive=row.check_passive,
        ),
        proxy_protocol=row.proxy_protocol,
        cipher_suite=row.cipher_suite,
        certificate=row.certificate if tls else None,
        private_key=box.open(row.private_key or b"").decode() if tls else None,
        nodes=tuple(
            NodeSpec(each.id, each.address, each.port, each.weight, each.mode) for each in nodes
        ),
    )


async def put_in_force(db: Queries, services: Services, nodebalancer_id: int) -> None:
    """This host's engine has what the rows say when it returns, and nothing of one that is on
    another host; no transaction is open. One that is on its way to another host is left alone: it
    serves until it is dropped by a job of its own.

    Raises EngineError.
    """
    done: tuple[BalancerSpec | None] | None = None
    engine: BalancerEngine | None = None
    while (row := await queries.find(db, nodebalancer_id)) is not None:
        engines = services.get(Engines)
        if row.left_host == engines.host:
            break
        spec = await wanted(db, services, row) if row.host == engines.host else None
        if done == (spec,):
            break
        engine = engines.holding(BALANCER_PLANE, row)
        if spec is None:
            await engine.remove(row.id)
        else:
            await engine.apply(spec)
        done = (spec,)
    else:
        # It was deleted and forgotten by somebody else before we brought it.
        if engine is not None:
            await engine.remove(nodebalancer_id)


async def statuses(db: Queries, services: Services, nodebalancer_id: int) -> dict[int, NodeStatus]:
    """What the engine has found of its nodes, by their ids. Raises EngineError."""
    row, engines = await queries.find(db, nodebalancer_id), services.get(Engines)
    if row is None or row.deleting or row.host != engines.host:
        return {}
    own = {each.id for each in await node_queries.served_by(db, row.id)}
    if row.resting or not own:
        return {}
    found = await engines.holding(BALANCER_PLANE, row).statuses()
    return {node_id: found[node_id] for node_id in own & found.keys()}
