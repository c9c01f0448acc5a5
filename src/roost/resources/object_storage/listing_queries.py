"""The SQL of the list of buckets of all accounts, for the operator."""

from roost.core.listed_queries import ACCOUNT, Listed, contains
from roost.store import Queries
from roost.store.query import query

BUCKETS = Listed(
    name="bucket",
    source="object_bucket t",
    columns={
        "id": "t.id",
        "account_id": "t.account_id",
        "label": "t.label",
        "cluster": "t.cluster",
        "region": "t.region",
        "hostname": "t.hostname",
        "acl": "t.acl",
        "objects": "t.objects",
        "size": "t.size",
        "status": "case when t.deleting then 'deleting' when t.applied < t.revision"
        " then 'changing' else 'active' end",
        "engine": "t.engine",
        "created": "t.created",
    },
    shown=("id", "account_id", "label", "cluster", "acl", "objects", "size", "status"),
    filters={
        "account": ACCOUNT,
        "region": "t.region = {}",
        "cluster": "t.cluster = {}",
        "label": contains("t.label"),
    },
    resource="'object_storage:' || t.account_id",
)


@query("select account_id, sum(size)::bigint as size from object_bucket group by 1")
async def by_account(db: Queries) -> dict[int, int]:
    """Bytes in all buckets of accounts that have any, as they were counted last."""
