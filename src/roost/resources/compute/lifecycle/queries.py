"""SQL that changes what instances consist of."""

from collections.abc import Collection
from datetime import datetime

from roost.core.instance_queries import InstanceStatus
from roost.resources.compute.billing_queries import charge
from roost.resources.compute.lifecycle.rules import Specs
from roost.store import Queries
from roost.store.query import query


async def specs_of(db: Queries, compute_id: int) -> Specs:
    """What the instance's plan gave it."""
    row = await db.fetchrow(
        "select type, disk, memory, vcpus, gpus, transfer from compute_instance where id = $1",
        compute_id,
    )
    assert row is not None
    return Specs(**row)


async def set_specs(db: Queries, compute_id: int, specs: Specs, now: datetime) -> None:
    """Another plan. An alert for the processors that was never changed follows their number."""
    await db.execute(
        """
        update compute_instance set type = $2, disk = $3, memory = $4, vcpus = $5, gpus = $6,
            transfer = $7, updated = $8,
            alerts = case when (alerts ->> 'cpu')::int = 90 * vcpus
                then (alerts::jsonb || jsonb_build_object('cpu', 90 * $5::int))::json
                else alerts end
        where id = $1
        """,
        compute_id,
        specs.type,
        specs.disk,
        specs.memory,
        specs.vcpus,
        specs.gpus,
        specs.transfer,
        now.replace(microsecond=0),
    )
    await charge(db, compute_id, now)


@query("update compute_instance set image = $2 where id = $1")
async def set_image(db: Queries, compute_id: int, image: str | None) -> None: ...


@query("""
    update compute_instance set user_data = $2, has_user_data = $2::bytea is not null
    where id = $1
    """)
async def set_user_data(db: Queries, compute_id: int, user_data: bytes | None) -> None:
    """Sealed."""


@query("update compute_instance set rescued = true where id = $1")
async def set_rescued(db: Queries, compute_id: int) -> None:
    """The boot that is on its way is the rescue system's."""


@query("delete from compute_config where id = any($1)")
async def delete_configs(db: Queries, config_ids: Collection[int]) -> None: ...


async def mark_deleting(db: Queries, disk_ids: Collection[int], now: datetime) -> None:
    """A job is about to remove these disks."""
    await db.execute(
        "update compute_disk set status = 'deleting', updated = $2 where id = any($1)",
        list(disk_ids),
        now.replace(microsecond=0),
    )


async def tags_of(db: Queries, account_id: int, compute_id: int) -> list[str]:
    """The tags of an instance of the account; none of any other."""
    tags: list[str] | None = await db.fetchval(
        "select tags from compute_instance where account_id = $1 and id = $2",
        account_id,
        compute_id,
    )
    return tags or []


@query("update compute_instance set resize_type = $2 where id = $1")
async def set_resize_type(db: Queries, compute_id: int, type_id: str) -> None:
    """The plan to come; it counts as long as the instance is resized or migrated."""


@query("select resize_type from compute_instance where id = $1")
async def resize_type(db: Queries, compute_id: int) -> str | None:
    """The plan that was last to come."""


async def begin_clone(
    db: Queries, source_id: int, target_id: int, former: InstanceStatus, now: datetime
) -> None:
    """Both are cloning; `former` is what the target becomes again.

    An instance of which another clone is being made keeps its former status.
    """
    await db.execute(
        """
        update compute_instance set status = 'cloning', updated = $4,
            former_status = case when id = $2 then $3
                when status = 'cloning' then former_status else status end,
            source_id = case when id = $2 then $1::bigint end
        where id in ($1, $2)
        """,
        source_id,
        target_id,
        former,
        now.replace(microsecond=0),
    )


@query("select from compute_instance where id in ($1, $2) order by id for no key update")
async def lock_both(db: Queries, source_id: int, target_id: int) -> None:
    """In the order of their ids, as everybody does who locks two."""


async def end_clone(db: Queries, source_id: int, target_id: int, now: datetime) -> None:
    """The target becomes what it was, and so does its source when this was the last clone."""
    sql = """
        update compute_instance i set status = i.former_status, former_status = null,
            source_id = null, updated = $2
        where i.id = $1 and i.status = 'cloning' and not exists (
            select from compute_instance c where c.source_id = i.id and c.status = 'cloning')
        """
    for compute_id in (target_id, source_id):
        await db.execute(sql, compute_id, now.replace(microsecond=0))
