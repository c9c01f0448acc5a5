"""Cloning: disks and configs to a new instance, or to one that is there (reference: clone)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from roost.core import instance_queries
from roost.core.catalog import Catalog
from roost.core.context import Context
from roost.core.events import log
from roost.core.instance_queries import InstanceFacts
from roost.errors import Problem, invalid, invalid_fields, not_found
from roost.resources.compute import queries as clone_queries
from roost.resources.compute.configs import copy_queries
from roost.resources.compute.configs import queries as configs
from roost.resources.compute.configs.copy_queries import SavedConfig
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.disks.queries import DiskFacts
from roost.resources.compute.disks.service import check_space
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.lifecycle import jobs, queries, rules
from roost.resources.compute.lifecycle.bodies import CloneInstance
from roost.resources.compute.lifecycle.jobs import CloneArgs
from roost.resources.compute.lifecycle.service import check_user_data
from roost.resources.compute.limits import check_new
from roost.resources.compute.locks import BUSY, check_exists, check_idle, is_worked_on
from roost.resources.compute.queries import NewInstance
from roost.resources.compute.service import Properties, place
from roost.resources.tags.service import hold_tags
from roost.secrets import Box


@dataclass(frozen=True, slots=True)
class _Content:
    """What is cloned."""

    configs: list[SavedConfig]
    disks: list[DiskFacts]

    @property
    def size(self) -> int:
        """MB"""
        return sum(disk.size for disk in self.disks)


async def clone(context: Context, compute_id: int, body: CloneInstance) -> int:
    """The target's id."""
    held = [] if body.compute_id is not None else await _tags(context, compute_id)
    await hold_tags(context, held)
    source, target = await _lock_both(context, compute_id, body.compute_id)
    await _check_source(context, source)
    if target is not None:
        await check_idle(context, target)
        _check_existing(source, target)
    else:
        await _check_new(context, source, body)
    content = await _content(context, source, body)
    new: NewInstance | None = None
    if target is None:
        _check_plan(context, body, content.size)
        tags = [tag for tag in await _tags(context, compute_id) if tag in held]
        new, target = await _create(context, source, body, tags)
    elif content.disks:
        await check_space(context, target, content.size, field=None)
    args = await _place(context, source, target, content, new is not None)
    entity, second = COMPUTE.of(source), COMPUTE.of(target)
    await log.start(context, jobs.CLONE, args, entity, second, size=content.size)
    if new is not None:
        await check_new(context, new, stays=True)
    return target.id


async def _tags(context: Context, compute_id: int) -> list[str]:
    return await queries.tags_of(context.db, context.account_id, compute_id)


async def _check_source(context: Context, source: InstanceFacts) -> None:
    """Others may be cloning it too."""
    clones = len(await clone_queries.clones(context.db, source.id))
    if source.status == "deleting" or (source.status == "cloning" and not clones):
        raise invalid(BUSY)
    if await is_worked_on(context, source.id):
        raise invalid(BUSY)
    if clones >= rules.MAX_CLONES:
        raise invalid(f"Compute cannot be cloned more than {rules.MAX_CLONES} times at once.")


async def _content(context: Context, source: InstanceFacts, body: CloneInstance) -> _Content:
    """The configs that are named, or all, with their disks, and the disks that are named."""
    owned = {disk.id: disk for disk in await disks.of_instance(context.db, source.id)}
    held = {config.id for config in await configs.names(context.db, source.id)}
    problems = [
        *_unknown("disks", body.disks or (), owned.keys()),
        *_unknown("configs", body.configs or (), held),
    ]
    if problems:
        raise invalid_fields(problems)
    saved = await copy_queries.read(context.db, source.id, body.configs)
    chosen = [owned[each] for each in rules.cloned_disks(saved, body.disks or ())]
    if any(disk.status != "ready" for disk in chosen):
        raise invalid("The disk is not ready.")
    return _Content(saved, chosen)


def _unknown(field: str, given: Sequence[int], held: Collection[int]) -> list[Problem]:
    return [
        Problem(f"Must be one of the {field} of the Compute", f"{field}[{index}]")
        for index, each in enumerate(given)
        if each not in held
    ]


async def _place(
    context: Context, source: InstanceFacts, target: InstanceFacts, content: _Content, new: bool
) -> CloneArgs:
    """Rows of what the target is going to have."""
    now, places = context.clock.now(), dict[int, int]()
    for disk in content.disks:
        copy = disk.copy_for(target.id, disk.label)
        places[disk.id] = (await disks.insert(context.db, copy, now)).id
    return CloneArgs(
        compute_id=target.id,
        username=context.identity.username,
        source_id=source.id,
        new=new,
        disks=places,
        configs=await copy_queries.write(context.db, target.id, content.configs, places, now),
    )


async def _lock_both(
    context: Context, source_id: int, target_id: int | None
) -> tuple[InstanceFacts, InstanceFacts | None]:
    """The instance to clone, and the one to clone it to, in the order of their ids.

    400 when the target is gone.
    """
    await check_exists(context, source_id)
    if target_id == source_id:
        raise invalid("Must be another Compute", "compute_id")
    wanted = [source_id] if target_id is None else sorted((source_id, target_id))
    locked = {
        each: await instance_queries.lock(context.db, context.account_id, each) for each in wanted
    }
    source = locked[source_id]
    if source is None:
        raise not_found()
    if target_id is None:
        return source, None
    target = locked[target_id]
    if target is None:
        raise invalid("compute_id is not valid", "compute_id")
    return source, target


def _check_existing(source: InstanceFacts, target: InstanceFacts) -> None:
    """400 where disks cannot go, and for user data, which only a new instance can be given."""
    if target.region != source.region:
        raise invalid("Must be in the region of the Compute that is cloned", "compute_id")
    if target.host != source.host:
        raise invalid("Must be on the host of the Compute that is cloned", "compute_id")
    if source.user_data is not None:
        raise invalid("A Compute with user data can only be cloned to a new Compute", "compute_id")


async def _check_new(context: Context, source: InstanceFacts, body: CloneInstance) -> None:
    """400 for another region: its engine cannot read the disks of this one."""
    if body.region != source.region:
        raise invalid("Must be the region of the Compute that is cloned", "region")
    if body.metadata is not None and body.metadata.user_data is not None:
        await check_user_data(context, source.region, source.image, body.metadata.user_data)


def _check_plan(context: Context, body: CloneInstance, size: int) -> None:
    """400 when the plan's disk does not hold `size` MB."""
    plan = context.get(Catalog).type(str(body.type))
    if size > plan.disk:
        raise invalid(f"The disks need {size} MB, the plan has {plan.disk} MB", "type")


async def _create(
    context: Context, source: InstanceFacts, body: CloneInstance, tags: list[str]
) -> tuple[NewInstance, InstanceFacts]:
    """A new instance without disks."""
    wanted = Properties(
        type=str(body.type),
        region=source.region,
        image=source.image,
        label=body.label,
        tags=tags,
        group=body.group or "",
        backups_enabled=body.backups_enabled,
        private_ip=body.private_ip,
        user_data=_user_data(context, source, body),
    )
    new, _ = await place(context, wanted, source.host)
    facts = await instance_queries.find(context.db, new["id"])
    assert facts is not None
    return new, facts


def _user_data(context: Context, source: InstanceFacts, body: CloneInstance) -> str | None:
    """Those that are given, else those of the source."""
    if body.metadata is not None:
        return body.metadata.user_data
    return None if source.user_data is None else context.get(Box).open(source.user_data).decode()
