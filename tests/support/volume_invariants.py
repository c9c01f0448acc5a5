"""What must always hold between instances, volumes, jobs and events, whatever happens at once.

Always, seen in one snapshot of the database:

1. A volume is attached to at most one instance, which exists, in its own region and account.
2. A slot of a config names only a volume that its instance has, and that persists across boots.
3. No instance has more volumes than its memory allows, nor more than 8 that persist.
4. An unfinished job of an account has an open event, and an open event an unfinished job.
5. A volume is creating, resizing or being deleted only while a job works on it.
6. A clone knows its source only while it is made, of the same size and in the same region.
7. No two volumes of an account that are shown have one label.
8. Of two jobs on a volume and on its instance's power the later one waits for the earlier one.
   What was to be done with a volume before it was attached concerns no guest: the attaching waits.

And when no job is left to do:

9. `roost fsck` is clean: each volume has its data, of its size, plugged into exactly the guest
   that runs and should have it.
10. No volume stays for one boot with an instance that is off.
"""

from asyncpg import Record

from roost.app.fsck import check_all
from roost.app.roost import Roost
from roost.resources.volumes.rules import MOST_PERSISTENT, most_volumes

_VOLUMES = """
    select v.*, i.id as owner, i.region as owner_region, i.account_id as owner_account,
        i.status as owner_status, s.size as source_size, s.region as source_region,
        exists (select from job j where j.resource = 'volume:' || v.id and j.finished is null)
            as busy,
        exists (select from job j where j.resource = 'volume:' || v.id and j.finished is null
            and j.kind = 'volume_detach') as detaching,
        exists (select from job j join job o on o.resource = 'compute:' || v.compute_id
            where j.resource = 'volume:' || v.id and j.finished is null and o.finished is null
                and not exists (select from job a where a.resource = j.resource and a.id > j.id
                    and a.finished is null and a.kind = 'volume_attach')
                and o.kind <> 'compute_delete'
                and not coalesce(j.args -> 'after' @> to_jsonb(o.id), false)
                and not coalesce(o.args -> 'after' @> to_jsonb(j.id), false)) as crossing
    from volume v
    left join compute_instance i on i.id = v.compute_id
    left join volume s on s.id = v.source_id
"""
_SLOTS = """
    select d.volume_id, c.compute_id, v.compute_id as owner, v.persist_across_boots
    from compute_config_device d
    join compute_config c on c.id = d.config_id
    join volume v on v.id = d.volume_id
"""
_COUNTS = """
    select i.id, i.memory, count(*) as volumes,
        count(*) filter (where v.persist_across_boots) as persistent
    from compute_instance i join volume v on v.compute_id = i.id group by i.id
"""
_ORPHANS = """
    select j.id, j.kind, e.id as event_id, e.action, e.status from job j
    full join event e on e.id = j.event_id
    where (j.finished is null and j.account_id is not null and j.kind <> 'compute_power_check'
            and coalesce(e.status, '') not in ('scheduled', 'started'))
        or (e.status in ('scheduled', 'started') and (j.id is null or j.finished is not null))
"""
_LABELS = """
    select account_id, label from volume where not deleting
    group by account_id, label having count(*) > 1
"""


async def check_always(roost: Roost) -> None:
    """Invariants 1 to 8."""
    async with (
        roost.store.pool.acquire() as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        volumes = await connection.fetch(_VOLUMES)
        slots = await connection.fetch(_SLOTS)
        counts = await connection.fetch(_COUNTS)
        orphans = await connection.fetch(_ORPHANS)
        labels = await connection.fetch(_LABELS)
    for volume in volumes:
        _check_volume(volume)
    for slot in slots:
        assert slot["compute_id"] == slot["owner"], dict(slot)
        assert slot["persist_across_boots"], dict(slot)
    for count in counts:
        assert count["volumes"] <= most_volumes(count["memory"]), dict(count)
        assert count["persistent"] <= MOST_PERSISTENT, dict(count)
    assert not orphans, [dict(row) for row in orphans]
    assert not labels, [dict(row) for row in labels]


def _check_volume(volume: Record) -> None:
    row = dict(volume)
    if row["compute_id"] is not None:
        owner = row["owner"], row["owner_region"], row["owner_account"]
        assert owner == (row["compute_id"], row["region"], row["account_id"]), row
        assert row["detaching"] or not row["deleting"], row
        assert not row["crossing"], row
    moving = row["deleting"] or row["status"] != "active"
    assert row["busy"] or not moving, row
    if row["source_id"] is not None:
        assert row["status"] == "creating", row
        # A resize of the source is shown at once, and done after the copy.
        assert row["size"] <= row["source_size"], row
        assert row["region"] == row["source_region"], row


async def check_at_rest(roost: Roost) -> None:
    """All of them, when no job is left to do."""
    await check_always(roost)
    lines: list[str] = []
    await check_all(roost, False, lines.append)
    assert lines == [], lines
    loose = await roost.store.fetch(
        "select v.id from volume v join compute_instance i on i.id = v.compute_id"
        " where not v.persist_across_boots and i.status <> 'running'"
    )
    assert not loose, [row["id"] for row in loose]
