"""SQL of what guests are told: of one instance, by its id, where its guest is."""

import orjson

from roost.resources.compute.metadata.records import InstanceDocument, InterfaceDocument
from roost.store import Queries


async def find_instance(db: Queries, compute_id: int, region: str) -> InstanceDocument | None:
    """An image that the catalogue knows has its id as label here."""
    text = await db.fetchval(
        """
        select row_to_json(document) from (
            select i.id, i.label, i.region, i.type, i.host_uuid, i.tags,
                json_build_object('vcpus', i.vcpus, 'memory', i.memory, 'disk', i.disk,
                    'transfer', i.transfer, 'gpus', i.gpus) as specs,
                json_build_object('enabled', i.backups_enabled, 'status', case
                    when not i.backups_enabled then null
                    when exists (select from compute_backup b where b.compute_id = i.id
                        and b.status in ('running', 'needsPostProcessing')) then 'running'
                    when i.backups_last is not null then 'complete'
                    else 'pending' end) as backups,
                case when i.image is not null then json_build_object('id', i.image, 'label',
                    coalesce((select m.label from image m where m.id = i.image
                        and (m.account_id is null or m.account_id = i.account_id)), i.image))
                    end as image,
                a.euuid as account_euuid
            from compute_instance i join account a on a.id = i.account_id
            where i.id = $1 and i.region = $2) document
        """,
        compute_id,
        region,
    )
    found: InstanceDocument | None = None if text is None else orjson.loads(text)
    return found


async def interfaces(db: Queries, compute_id: int) -> list[InterfaceDocument]:
    """The interfaces of the last boot's config, else of the oldest one; eth0 first."""
    rows = await db.fetch(
        """
        select f.purpose, f.label, f.ipam_address from compute_interface f
        where f.config_id = (select c.id from compute_config c
            join compute_instance i on i.id = c.compute_id
            where i.id = $1 order by c.id is not distinct from i.config_id desc, c.id limit 1)
        order by f.position
        """,
        compute_id,
    )
    return [
        {
            "purpose": row["purpose"],
            "label": row["label"] or None,
            "ipam_address": row["ipam_address"] or None,
        }
        for row in rows
    ]
