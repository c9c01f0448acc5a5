"""How bodies name buckets: by cluster and label."""

from collections.abc import Collection, Mapping

from roost.core.context import Context
from roost.resources.object_storage import queries


class OwnBuckets:
    """Buckets of the account by `<cluster>/<label>`; finds their ids."""

    async def find(self, context: Context, ids: Collection[str]) -> Mapping[str, int]:
        return await queries.labels(context.db, context.account_id, ids)


OWN_BUCKETS = OwnBuckets()
