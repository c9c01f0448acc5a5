"""Where a clone goes to."""

from roost.core.catalog import Catalog
from roost.core.context import Context
from roost.errors import invalid, not_found
from roost.resources.compute import queries as instances
from roost.resources.compute.creation import Properties, place
from roost.resources.compute.lifecycle.clone_bodies import CloneInstance
from roost.resources.compute.lifecycle.user_data import check_user_data
from roost.resources.compute.locks import check_exists
from roost.resources.compute.queries import InstanceFacts
from roost.secrets import Box


async def lock_both(
    context: Context, source_id: int, target_id: int | None
) -> tuple[InstanceFacts, InstanceFacts | None]:
    """The instance to clone, and the one to clone it to, in the order of their ids.

    400 when the target is gone.
    """
    await check_exists(context, source_id)
    if target_id == source_id:
        raise invalid("Must be another Compute", "compute_id")
    wanted = [source_id] if target_id is None else sorted((source_id, target_id))
    locked = {each: await instances.lock(context.db, context.account_id, each) for each in wanted}
    source = locked[source_id]
    if source is None:
        raise not_found()
    if target_id is None:
        return source, None
    target = locked[target_id]
    if target is None:
        raise invalid("compute_id is not valid", "compute_id")
    return source, target


def check_existing(source: InstanceFacts, target: InstanceFacts) -> None:
    """400 where disks cannot go, and for user data, which only a new instance can be given."""
    if target.region != source.region:
        raise invalid("Must be in the region of the Compute that is cloned", "compute_id")
    if source.user_data is not None:
        raise invalid("A Compute with user data can only be cloned to a new Compute", "compute_id")


def check_new(context: Context, source: InstanceFacts, body: CloneInstance) -> None:
    """400 for another region: its engine cannot read the disks of this one."""
    if body.region != source.region:
        raise invalid("Must be the region of the Compute that is cloned", "region")
    if body.metadata is not None and body.metadata.user_data is not None:
        check_user_data(context, source.region, source.image, body.metadata.user_data)


def check_plan(context: Context, body: CloneInstance, size: int) -> None:
    """400 when the plan's disk does not hold `size` MB."""
    plan = context.get(Catalog).type(str(body.type))
    if size > plan.disk:
        raise invalid(f"The disks need {size} MB, the plan has {plan.disk} MB", "type")


async def create(
    context: Context, source: InstanceFacts, body: CloneInstance, tags: list[str]
) -> InstanceFacts:
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
    new, _ = await place(context, wanted)
    facts = await instances.find(context.db, new["id"])
    assert facts is not None
    return facts


def _user_data(context: Context, source: InstanceFacts, body: CloneInstance) -> str | None:
    """Those that are given, else those of the source."""
    if body.metadata is not None:
        return body.metadata.user_data
    return None if source.user_data is None else context.get(Box).open(source.user_data).decode()
