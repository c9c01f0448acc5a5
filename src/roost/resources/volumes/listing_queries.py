"""The SQL of the list of volumes of all accounts, for the operator."""

from roost.core.listed_queries import ACCOUNT, Listed, contains
from roost.store import Queries
from roost.store.query import query

VOLUMES = Listed(
    name="volume",
    source="volume t",
    columns={
        "id": "t.id",
        "account_id": "t.account_id",
        "label": "t.label",
        "region": "t.region",
        "host": "t.host",
        "size": "t.size",
        "status": "case when t.deleting then 'deleting' else t.status end",
        "compute_id": "t.compute_id",
        "engine": "t.engine",
        "created": "t.created",
    },
    shown=("id", "account_id", "label", "region", "host", "size", "status", "compute_id"),
    filters={
        "account": ACCOUNT,
        "region": "t.region = {}",
        "host": "t.host = {}",
        "status": "t.status = {}",
        "label": contains("t.label"),
    },
    resource="'volume:' || t.id",
    entity="volume",
)


@query("select account_id, sum(size)::bigint as size from volume group by 1")
async def by_account(db: Queries) -> dict[int, int]:
    """GiB of all volumes of accounts that have any."""
