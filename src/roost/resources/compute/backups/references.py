"""How bodies name backups."""

from collections.abc import Collection, Mapping

from roost.core.access import require_all
from roost.core.context import Context
from roost.resources.compute.backups import queries
from roost.resources.compute.backups.queries import BackupFacts
from roost.resources.compute.entity import COMPUTE


class _Backups:
    """How a new instance names the backup that it is made of."""

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, BackupFacts]:
        """403 without write access to the instance, also when there is no such backup."""
        found = await queries.find_all(context.db, context.account_id, ids)
        computes = [found[each].compute_id if each in found else 0 for each in ids]
        await require_all(context, COMPUTE.name, computes, "read_write")
        return found


BACKUP = _Backups()
