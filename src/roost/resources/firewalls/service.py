"""Making and changing firewalls, and what is behind them (spec B networking 1)."""

from collections.abc import Collection, Mapping, Sequence

import orjson
from asyncpg import UniqueViolationError

from roost.core import instance_queries
from roost.core.access import give_to_creator
from roost.core.catalog import Catalog
from roost.core.context import Context
from roost.core.entities.locks import lock_all
from roost.core.entities.queries import labels
from roost.core.entities.records import Entity
from roost.core.events import log
from roost.core.instance_queries import InstanceFacts
from roost.core.limits.check import check_limits
from roost.errors import Problem, invalid, invalid_fields, not_found
from roost.resources.compute.entity import COMPUTE
from roost.resources.firewalls import device_queries, jobs, queries
from roost.resources.firewalls.bodies import (
    AddDevice,
    CreateFirewall,
    FirewallRule,
    NewRules,
    ReplaceRules,
    UpdateFirewall,
)
from roost.resources.firewalls.device_queries import DeviceFacts
from roost.resources.firewalls.locks import lock
from roost.resources.firewalls.queries import FIREWALL, FirewallFacts, NewFirewall
from roost.resources.firewalls.records import rules_of
from roost.resources.nodebalancers import locks as balancing
from roost.resources.nodebalancers.entity import NODEBALANCER
from roost.resources.tags.service import change_tags, use_tags

LABEL_TAKEN = "Label must be unique among your Cloud Firewalls"
SECOND = "Compute {} has another enabled firewall"
GONE = "Compute {} is gone"
MIGRATING = "Compute {} is being migrated"
NOT_OFFERED = "The region of Compute {} does not offer Cloud Firewall"


async def create(context: Context, body: CreateFirewall) -> int:
    """The id of a new firewall, which is enabled."""
    await use_tags(context, body.tags)
    wanted = list(dict.fromkeys(body.devices.computes))
    await queries.hold(context.db, context.account_id)
    balancers = list(dict.fromkeys(body.devices.nodebalancers))
    await _check_behind(context, dict.fromkeys(wanted, "devices.computes"), None)
    await _check_balanced(context, dict.fromkeys(balancers, "devices.nodebalancers"), None)
    new = NewFirewall(
        account_id=context.account_id,
        label=body.label,
        rules=_rules_json(body.rules),
        tags=body.tags,
        now=context.clock.seconds(),
    )
    firewall_id = await queries.insert(context.db, new)
    if firewall_id is None:
        raise invalid(LABEL_TAKEN, "label")
    await give_to_creator(context, FIREWALL.name, firewall_id)
    await device_queries.insert(context.db, firewall_id, wanted, new.now)
    for each in balancers:
        await device_queries.insert_balanced(context.db, firewall_id, each, new.now)
    await jobs.start(context, "firewall_create", firewall_id, body.label)
    await check_limits(context, queries.LIMIT)
    return firewall_id


async def update(context: Context, firewall_id: int, body: UpdateFirewall) -> None:
    tags = await change_tags(context, FIREWALL, firewall_id, body.tags)
    await queries.hold(context.db, context.account_id)
    firewall, now = await lock(context, firewall_id), context.clock.seconds()
    try:
        changed = await queries.update(context.db, firewall.id, body.label, tags, now)
    except UniqueViolationError:
        raise invalid(LABEL_TAKEN, "label") from None
    label = body.label or firewall.label
    if changed:
        await log.notify(context, "firewall_update", FIREWALL.entity(firewall.id, label))
    if body.status in (None, firewall.status):
        return
    behind = dict.fromkeys(await device_queries.of_firewall(context.db, firewall.id), "status")
    balanced = dict.fromkeys(await device_queries.balancers_of(context.db, firewall.id), "status")
    enabled = body.status == "enabled"
    await _check_behind(context, behind, firewall.id, enabled=enabled)
    await _check_balanced(context, balanced, firewall.id, enabled=enabled)
    await queries.set_status(context.db, firewall.id, body.status, now)
    action = "firewall_enable" if body.status == "enabled" else "firewall_disable"
    await jobs.start(context, action, firewall.id, label)


async def replace_rules(context: Context, firewall_id: int, body: ReplaceRules) -> None:
    firewall = await lock(context, firewall_id)
    held = rules_of(firewall.rules)
    given = {
        "inbound": _rows(body.inbound),
        "inbound_policy": body.inbound_policy or held["inbound_policy"],
        "outbound": _rows(body.outbound),
        "outbound_policy": body.outbound_policy or held["outbound_policy"],
    }
    if given != held:
        rules = orjson.dumps(given).decode()
        await queries.set_rules(context.db, firewall.id, rules, context.clock.seconds())
        await jobs.start(context, "firewall_rules_update", firewall.id, firewall.label)


def _rules_json(rules: NewRules) -> str:
    """What is kept and shown: what was sent."""
    row = {
        "inbound": _rows(rules.inbound),
        "inbound_policy": rules.inbound_policy,
        "outbound": _rows(rules.outbound),
        "outbound_policy": rules.outbound_policy,
    }
    return orjson.dumps(row).decode()


def _rows(rules: Sequence[FirewallRule]) -> list[Mapping[str, object]]:
    return [rule.model_dump(exclude_none=True) for rule in rules]


async def delete(context: Context, firewall_id: int) -> None:
    """From now on nobody sees it; its devices are open when the event is finished."""
    firewall = await lock(context, firewall_id)
    await queries.set_status(context.db, firewall.id, "deleted", context.clock.seconds())
    await jobs.start(context, "firewall_delete", firewall.id, firewall.label)


async def add_device(context: Context, firewall_id: int, body: AddDevice) -> int:
    """The device's id."""
    await queries.hold(context.db, context.account_id)
    firewall = await lock(context, firewall_id)
    enabled = firewall.status == "enabled"
    if body.type == "nodebalancer":
        (found,) = await _check_balanced(context, {body.id: "id"}, firewall.id, enabled=enabled)
        device_id = await put_balancer_behind(context, firewall, NODEBALANCER.of(found), found.id)
        if device_id is None:
            reason = f"NodeBalancer {body.id} is a device of this firewall already"
            raise invalid(reason, "id")
        return device_id
    (instance,) = await _check_behind(context, {body.id: "id"}, firewall.id, enabled=enabled)
    made = await put_behind(context, firewall, COMPUTE.of(instance), instance.id)
    if made is None:
        raise invalid(f"Compute {body.id} is a device of this firewall already", "id")
    return made


async def put_behind(
    context: Context, firewall: FirewallFacts, instance: Entity, compute_id: int
) -> int | None:
    """The id of the new device; None for one that is there."""
    now = context.clock.seconds()
    made = await device_queries.insert(context.db, firewall.id, [compute_id], now)
    if not made:
        return None
    await jobs.start(context, "firewall_device_add", firewall.id, firewall.label, instance)
    return made[compute_id]


async def put_balancer_behind(
    context: Context, firewall: FirewallFacts, balancer: Entity, nodebalancer_id: int
) -> int | None:
    """The same for a NodeBalancer."""
    now = context.clock.seconds()
    made = await device_queries.insert_balanced(context.db, firewall.id, nodebalancer_id, now)
    if made is not None:
        await jobs.start(context, "firewall_device_add", firewall.id, firewall.label, balancer)
    return made


async def remove_device(context: Context, firewall_id: int, device_id: int) -> None:
    firewall = await lock(context, firewall_id)
    device = await device_queries.find(context.db, firewall.id, device_id)
    second = None if device is None else await _service(context, device)
    if device is None or second is None:
        raise not_found()
    await device_queries.delete(context.db, [device.id])
    await jobs.start(context, "firewall_device_remove", firewall.id, firewall.label, second)


async def _service(context: Context, device: DeviceFacts) -> Entity | None:
    """What a device is."""
    kind, entity_id = COMPUTE, device.compute_id
    if entity_id is None:
        kind, entity_id = NODEBALANCER, device.nodebalancer_id
    assert entity_id is not None
    found = await labels(context.db, kind, context.account_id, [entity_id])
    return kind.entity(entity_id, found[entity_id]) if entity_id in found else None


async def _check_balanced(
    context: Context, fields: Mapping[int, str], firewall_id: int | None, *, enabled: bool = True
) -> list[balancing.BalancerFacts]:
    """The same of NodeBalancers, which are of the account."""
    own = await lock_all(context.db, NODEBALANCER, context.account_id, fields)
    filtered = (
        await device_queries.enabled_before_balancers(context.db, fields, firewall_id)
        if enabled
        else set()
    )
    found = {each.id: each for each in await balancing.find_all(context.db, own)}
    problems = list[Problem]()
    for each, field in fields.items():
        if each not in found:
            problems.append(Problem(f"NodeBalancer {each} is gone", field))
        elif each in filtered:
            problems.append(Problem(f"NodeBalancer {each} has another enabled firewall", field))
        elif not _offered(context, found[each].region):
            reason = f"The region of NodeBalancer {each} does not offer Cloud Firewall"
            problems.append(Problem(reason, field))
    if problems:
        raise invalid_fields(problems)
    return [found[each] for each in fields]


async def _check_behind(
    context: Context, fields: Mapping[int, str], firewall_id: int | None, *, enabled: bool = True
) -> list[InstanceFacts]:
    """The instances, which may be behind a firewall; raises 400 with all reasons why not.

    `fields` says which field of the body names each. The caller holds the account's devices; the
    instances are locked, as they may be given away meanwhile.
    """
    own = await lock_all(context.db, COMPUTE, context.account_id, fields)
    filtered = (
        await device_queries.enabled_before(context.db, fields, firewall_id) if enabled else set()
    )
    found = await instance_queries.find_many(context.db, own)
    reasons = (
        (_reason(context, found.get(compute_id), compute_id, filtered), field)
        for compute_id, field in fields.items()
    )
    problems = [Problem(reason, field) for reason, field in reasons if reason is not None]
    if problems:
        raise invalid_fields(problems)
    return [found[compute_id] for compute_id in fields]


def _reason(
    context: Context, instance: InstanceFacts | None, compute_id: int, filtered: Collection[int]
) -> str | None:
    """Why an instance cannot be behind one more firewall."""
    if instance is None:
        return GONE.format(compute_id)
    if instance.status == "deleting":
        return f"Compute {compute_id} is being deleted"
    if instance.status == "migrating":
        return MIGRATING.format(compute_id)
    if compute_id in filtered:
        return SECOND.format(compute_id)
    if not _offered(context, instance.region):
        return NOT_OFFERED.format(compute_id)
    return None


def _offered(context: Context, region_id: str) -> bool:
    region = context.get(Catalog).find_region(region_id)
    return region is not None and "Cloud Firewall" in region.capabilities
