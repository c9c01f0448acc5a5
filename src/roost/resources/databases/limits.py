"""What an account and a region may have of managed databases (docs/catalog.md, Limits)."""

from roost.core.context import Context
from roost.core.limits.capacity import NOTHING, check_capacity
from roost.core.limits.check import check_limits
from roost.core.limits.host import Promised
from roost.core.limits.kinds import LimitGroup, LimitKind
from roost.resources.databases.queries import promised_in
from roost.settings import MAIN_HOST
from roost.store import Queries

DATABASES = LimitGroup.of(
    "managed_database d where d.account_id = $1 and not d.deleting",
    LimitKind("databases", "managed databases", 50),
)


async def promise(db: Queries, region: str, host: str) -> Promised:
    """What the nodes have of the host that all of them are on."""
    if host != MAIN_HOST:
        return NOTHING
    return Promised(*await promised_in(db, region))


async def check_new(context: Context, region: str) -> None:
    """400 when a new database, which is written already, is too much for account or region."""
    await check_limits(context, DATABASES)
    await check_capacity(context, region, "region")


async def check_resized(context: Context, region: str) -> None:
    """Check a database that gets a larger plan."""
    await check_capacity(context, region, "type")
