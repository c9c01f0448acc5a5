"""Cloning: disks and configs to a new instance, or to one that is there (reference: clone)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from roost.core.context import Context
from roost.core.events import log
from roost.errors import Problem, invalid, invalid_fields
from roost.resources.compute.configs import copies
from roost.resources.compute.configs import queries as configs
from roost.resources.compute.configs.copies import SavedConfig
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.disks.changes import check_space
from roost.resources.compute.disks.queries import DiskFacts
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.lifecycle import clone_queries, clone_targets, jobs, queries, rules
from roost.resources.compute.lifecycle.args import CloneArgs
from roost.resources.compute.lifecycle.clone_bodies import CloneInstance
from roost.resources.compute.limits import check_new
from roost.resources.compute.locks import check_idle, is_worked_on
from roost.resources.compute.queries import InstanceFacts
from roost.resources.compute.turns import BUSY
from roost.resources.tags.labels import hold_tags


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
    source, target = await clone_targets.lock_both(context, compute_id, body.compute_id)
    await _check_source(context, source)
    if target is not None:
        await check_idle(context, target)
        clone_targets.check_existing(source, target)
    else:
        clone_targets.check_new(context, source, body)
    content = await _content(context, source, body)
    new = target is None
    if target is None:
        clone_targets.check_plan(context, body, content.size)
        tags = [tag for tag in await _tags(context, compute_id) if tag in held]
        target = await clone_targets.create(context, source, body, tags)
    elif content.disks:
        await check_space(context, target, content.size, field=None)
    args = await _place(context, source, target, content, new)
    entity, second = COMPUTE.of(source), COMPUTE.of(target)
    await log.start(context, jobs.CLONE, args, entity, second, size=content.size)
    if new:
        await check_new(context, target.region)
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
    saved = await copies.read(context.db, source.id, body.configs)
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
        configs=await copies.write(context.db, target.id, content.configs, places, now),
    )
