"""Configs of NodeBalancers: their ports (reference: NodeBalancer config)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from asyncpg import UniqueViolationError
from pydantic import TypeAdapter

from roost.core.context import Context
from roost.errors import Problem, invalid, invalid_fields
from roost.resources.nodebalancers import (
    certificate_rules,
    config_queries,
    jobs,
    locks,
    node_queries,
    node_service,
    queries,
    rules,
)
from roost.resources.nodebalancers.bodies import NodeBalancerConfigFields, RebuildNodeBalancerConfig
from roost.resources.nodebalancers.certificate_rules import Served
from roost.resources.nodebalancers.queries import BalancerFacts
from roost.resources.nodebalancers.rules import ConfigValues
from roost.secrets import Box
from roost.threads import COMPUTING

MANY = f"A NodeBalancer has at most {rules.MAX_CONFIGS} configs"
_VALUES = TypeAdapter(ConfigValues)
NO_NODE = "The config has no such node"


async def read_certificate(
    context: Context, body: NodeBalancerConfigFields, prefix: str = ""
) -> Served | None:
    """That of a body, while no transaction is open. Raises 400 for one that cannot be served."""
    if body.pair is None:
        return None
    now = context.clock.now()
    return await COMPUTING.run(certificate_rules.read, *body.pair, now, prefix)


def check_all(bodies: Sequence[NodeBalancerConfigFields], served: Sequence[Served | None]) -> None:
    """Raises 400 with all that configs of a new NodeBalancer cannot be."""
    problems = list[Problem]()
    values = [_values(ConfigValues(), each) for each in bodies]
    for at, (each, certificate) in enumerate(zip(values, served, strict=True)):
        problems += rules.objections(each, certificate is not None, f"configs[{at}].")
    again = rules.repeated([each.port for each in values])
    if again is not None:
        problems.append(Problem(rules.PORT_TAKEN, f"configs[{again}].port"))
    if problems:
        raise invalid_fields(problems)


async def insert(
    context: Context,
    nodebalancer_id: int,
    body: NodeBalancerConfigFields,
    served: Served | None,
    prefix: str = "",
) -> int:
    """The id of a new one; 400 when it cannot be so, or its port is taken."""
    values = _values(ConfigValues(), body)
    _check(values, served is not None, prefix)
    row = {**asdict(values), **_certified(context, served)}
    config_id = await config_queries.insert(context.db, nodebalancer_id, row)
    if config_id is None:
        raise invalid(rules.PORT_TAKEN, f"{prefix}port")
    return config_id


async def create(
    context: Context, nodebalancer_id: int, body: NodeBalancerConfigFields, served: Served | None
) -> int:
    held = await locks.lock(context, nodebalancer_id)
    if await config_queries.count(context.db, held.id) >= rules.MAX_CONFIGS:
        raise invalid(MANY)
    config_id = await insert(context, held.id, body, served)
    await _changed(context, held, "nodebalancer_config_create")
    return config_id


async def update(
    context: Context,
    nodebalancer_id: int,
    config_id: int,
    body: NodeBalancerConfigFields,
    served: Served | None,
) -> None:
    held = await locks.lock(context, nodebalancer_id)
    if await _change(context, held, config_id, body, served):
        await _changed(context, held, "nodebalancer_config_update")


async def delete(context: Context, nodebalancer_id: int, config_id: int) -> None:
    held = await locks.lock(context, nodebalancer_id)
    config = await locks.find_config(context, held.id, config_id)
    await config_queries.delete(context.db, config.id)
    await _changed(context, held, "nodebalancer_config_delete")


async def rebuild(
    context: Context,
    nodebalancer_id: int,
    config_id: int,
    body: RebuildNodeBalancerConfig,
    served: Served | None,
) -> None:
    """All of a config at once, with exactly these nodes."""
    region = (await locks.find(context, nodebalancer_id)).region
    named = {f"nodes[{at}].address": each.address for at, each in enumerate(body.nodes)}
    places = await node_service.find_places(context, region, named)
    held = await locks.lock(context, nodebalancer_id)
    await _change(context, held, config_id, body, served)
    known = {each.id for each in await node_queries.of_config(context.db, config_id)}
    for at, node in enumerate(body.nodes):
        if node.id is not None and (node.id not in known or node.id in _ids(body, at)):
            raise invalid(NO_NODE, f"nodes[{at}].id")
    again = rules.repeated(list(named.values()))
    if again is not None:
        raise invalid(rules.NODE_TAKEN, f"nodes[{again}].address")
    # Nodes may swap their addresses: what stays is written anew under its id.
    await node_queries.delete(context.db, sorted(known))
    for at, node in enumerate(body.nodes):
        field = f"nodes[{at}].address"
        await node_service.insert(context, config_id, node, places[field], field, node.id)
    await _changed(context, held, "nodebalancer_config_update")


def _ids(body: RebuildNodeBalancerConfig, before: int) -> set[int | None]:
    return {each.id for each in body.nodes[:before]}


async def _change(
    context: Context,
    held: BalancerFacts,
    config_id: int,
    body: NodeBalancerConfigFields,
    served: Served | None,
) -> bool:
    config = await locks.find_config(context, held.id, config_id)
    before = ConfigValues(**{name: getattr(config, name) for name in rules.COLUMNS})
    after = _values(before, body)
    _check(after, served is not None or config.certificate is not None)
    if served is None and after == before:
        return False
    row = {**asdict(after), **_certified(context, served)}
    try:
        await config_queries.update(context.db, config.id, row)
    except UniqueViolationError:
        raise invalid(rules.PORT_TAKEN, "port") from None
    return True


async def _changed(context: Context, held: BalancerFacts, action: str) -> None:
    """The engine is told of what is different from now on."""
    await queries.touch(context.db, held.id, context.clock.seconds())
    await jobs.start(context, action, held.id, held.label)


def _values(before: ConfigValues, body: NodeBalancerConfigFields) -> ConfigValues:
    return _VALUES.validate_python({**asdict(before), **body.given()})


def _check(values: ConfigValues, has_certificate: bool, prefix: str = "") -> None:
    problems = list(rules.objections(values, has_certificate, prefix))
    if problems:
        raise invalid_fields(problems)


def _certified(context: Context, served: Served | None) -> Mapping[str, object]:
    """The columns of a certificate; its key is sealed."""
    if served is None:
        return {}
    return {
        "certificate": served.certificate,
        "private_key": context.get(Box).seal(served.private_key.encode()),
        "ssl_commonname": served.commonname,
        "ssl_fingerprint": served.fingerprint,
    }
