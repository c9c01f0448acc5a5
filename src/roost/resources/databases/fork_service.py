"""What a new database begins with, when that is what another one had."""

from datetime import datetime

from roost.core.context import Context
from roost.errors import ApiError, invalid
from roost.resources.databases import queries, rules
from roost.resources.databases.bodies import CreateDatabase
from roost.resources.databases.engine import DatabaseShape, Fork


async def find_fork(
    context: Context, body: CreateDatabase, shape: DatabaseShape, disk: int, engine: str
) -> Fork | None:
    """None of an empty one. `disk`: MB of the plan; `engine`: of the region's data plane.

    400 unless the other one is there and has such a moment. It may go until the work is done; then
    that fails.
    """
    if body.fork is None:
        return None
    source = await queries.find_own(context.db, context.account_id, body.fork.source)
    if source is None:
        raise invalid("source is not valid", "fork.source")
    if source.status not in ("active", "degraded"):
        raise invalid(f"Database is {source.status}; it must be active or degraded.", "fork.source")
    origins = (
        rules.origin(body.region, shape, disk),
        rules.origin(source.region, source.shape, source.disk),
    )
    if problems := tuple(rules.fork_problems(*origins)):
        raise ApiError(400, problems)
    if source.engine != engine:
        raise invalid("Database is held by another engine than new ones", "fork.source")
    now, asked = context.clock.seconds(), body.fork.restore_time
    moment = now if asked is None else datetime.fromisoformat(asked)
    if problem := rules.moment_problem(moment, source.oldest_moment, now):
        raise ApiError(400, (problem,))
    return Fork(source.id, moment)
