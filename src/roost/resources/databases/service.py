"""Making managed databases."""

import secrets
import string

import orjson
from asyncpg import UniqueViolationError

from roost.core.access import give_to_creator
from roost.core.billing.ledger import begin
from roost.core.catalog import Catalog
from roost.core.context import Context
from roost.core.events import log
from roost.core.planes import Engines
from roost.errors import invalid, not_found
from roost.jobs.queue import JobQueue
from roost.resources.databases import jobs, limits, queries, state_queries
from roost.resources.databases.bodies import CreateDatabase, UpdateDatabase, Updates
from roost.resources.databases.charge_service import charge
from roost.resources.databases.engine import PLANES, DatabaseShape, KindName
from roost.resources.databases.fork_service import find_fork
from roost.resources.databases.name_jobs import name_soon
from roost.resources.databases.queries import DATABASE, DatabaseFacts, NewDatabase, entity_of
from roost.resources.databases.records import DatabaseStatus
from roost.resources.databases.steps import DatabaseArgs, Plan, UpdateArgs
from roost.secrets import Box

REMOVABLE: tuple[DatabaseStatus, ...] = ("active", "failed", "degraded")
PORTS: dict[KindName, int] = {"mysql": 3306, "postgresql": 5432}
"""What is shown until a database has its own."""
LABEL_TAKEN = "Label must be unique among your databases"
_LETTERS = string.ascii_letters + string.digits
_PASSWORD_LENGTH = 24
"""143 bits."""
_UPDATES = Updates(duration=3, hour_of_day=0, day_of_week=1)
"""The window of a database that has none of its own."""


def new_password(context: Context) -> bytes:
    """A strong one, sealed."""
    password = "".join(secrets.choice(_LETTERS) for _ in range(_PASSWORD_LENGTH))
    return context.get(Box).seal(password.encode())


def dump_updates(updates: Updates) -> str:
    """As JSON, in the order of the record."""
    return orjson.dumps(updates.model_dump()).decode()


async def create(context: Context, body: CreateDatabase) -> str:
    """The record of a new database, which is `provisioning`."""
    catalog, kind = context.get(Catalog), body.kind
    engine = context.get(Engines).of(PLANES[kind], body.region)
    wanted = catalog.find_database_engine(body.engine)
    plan = catalog.find_database_type(body.type)
    assert wanted is not None
    assert plan is not None
    assert body.replication_type is not None
    shape = DatabaseShape(
        wanted.server,
        wanted.version,
        body.cluster_size,
        body.replication_type,
        body.encrypted,
        body.ssl_connection,
        body.commit_type,
    )
    if objection := engine.objection(shape):
        raise invalid(objection.reason, objection.field)
    new = NewDatabase(
        account_id=context.account_id,
        label=body.label,
        kind=kind,
        region=body.region,
        engine=engine.name,
        type=plan.id,
        shape=shape,
        vcpus=plan.vcpus,
        memory=plan.memory,
        disk=plan.disk,
        allow_list=body.allow_list,
        updates=dump_updates(_UPDATES),
        port=PORTS[kind],
        password=new_password(context),
        fork=await find_fork(context, body, shape, plan.disk, engine.name),
        now=context.clock.seconds(),
    )
    made = await queries.insert(context.db, new)
    if made is None:
        raise invalid(LABEL_TAKEN, "label")
    database_id, record = made
    await begin(context.db, queries.CHARGED[kind], database_id, new.now)
    await give_to_creator(context, DATABASE.name, database_id)
    entity = DATABASE.entity(database_id, body.label, kind)
    job = jobs.CREATE if new.fork is None else jobs.FORK
    await log.start(context, job, DatabaseArgs(database_id=database_id), entity)
    await name_soon(context.db, context.get(JobQueue))
    await limits.check_new(context, body.region)
    return record


async def find(context: Context, kind: KindName, database_id: int) -> DatabaseFacts:
    """404 unless the account has it."""
    database = await queries.find_own(context.db, context.account_id, database_id)
    if database is None or database.kind != kind:
        raise not_found()
    return database


async def lock(
    context: Context, kind: KindName, database_id: int, *allowed: DatabaseStatus
) -> DatabaseFacts:
    """The caller's database, which nobody else changes meanwhile; 400 in a status that is not
    allowed."""
    database = await queries.lock(context.db, context.account_id, database_id)
    if database is None or database.kind != kind:
        raise not_found()
    check_status(database, *allowed)
    return database


def check_status(database: DatabaseFacts, *allowed: DatabaseStatus) -> None:
    """Raises 400 unless it has one of them."""
    if database.status not in allowed:
        *others, last = allowed
        wanted = f"{', '.join(others)} or {last}" if others else last
        raise invalid(f"Database is {database.status}; it must be {wanted}.")


async def update(context: Context, kind: KindName, database_id: int, body: UpdateDatabase) -> None:
    """Name and window at once; allow list and plan by a job, and shown from now on."""
    database = await lock(context, kind, database_id, "active")
    grown = _plan(context, database, body.type)
    listed = None if body.allow_list == database.allow_list else body.allow_list
    updates = None if body.updates is None else dump_updates(body.updates)
    now = context.clock.now()
    try:
        renamed = await state_queries.update(context.db, database.id, body.label, updates, now)
    except UniqueViolationError:
        raise invalid(LABEL_TAKEN, "label") from None
    entity = entity_of(database, body.label)
    if grown is None and listed is None:
        if renamed:
            await log.notify(context, "database_update", entity)
        return
    former_list = None if listed is None else tuple(database.allow_list)
    former_plan = None
    if listed is not None:
        await state_queries.set_allow_list(context.db, database.id, listed)
    if grown is not None:
        former_plan = Plan(
            type=database.type,
            vcpus=database.vcpus,
            memory=database.memory,
            disk=database.disk,
        )
        await state_queries.set_plan(
            context.db, database.id, grown.type, grown.vcpus, grown.memory, grown.disk
        )
        await charge(context.db, database.id, now)
    args = UpdateArgs(
        database_id=database.id, former_allow_list=former_list, former_plan=former_plan
    )
    action = "database_update" if grown is None else "database_resize"
    await log.start(context, jobs.UPDATE, args, entity, action=action)
    if grown is not None:
        await limits.check_resized(context, database.region)


def _plan(context: Context, database: DatabaseFacts, wanted: str | None) -> Plan | None:
    """The plan that it is to get; None when it has that already."""
    if wanted in (None, database.type):
        return None
    plan = context.get(Catalog).find_database_type(wanted or "")
    assert plan is not None
    if plan.disk <= database.disk:
        raise invalid("A database can only be resized to a plan with more disk", "type")
    if not plan.offers(database.kind, database.cluster_size):
        raise invalid("The plan type does not offer clusters of this size", "type")
    return Plan(type=plan.id, vcpus=plan.vcpus, memory=plan.memory, disk=plan.disk)


async def reset_credentials(context: Context, kind: KindName, database_id: int) -> None:
    """A new random password; shown once it is in force."""
    database = await lock(context, kind, database_id, "active")
    await state_queries.set_next_password(context.db, database.id, new_password(context))
    args = DatabaseArgs(database_id=database.id)
    await log.start(context, jobs.RESET, args, entity_of(database))


async def patch(context: Context, kind: KindName, database_id: int) -> None:
    database = await lock(context, kind, database_id, "active")
    args = DatabaseArgs(database_id=database.id)
    await log.start(context, jobs.PATCH, args, entity_of(database))


async def delete(context: Context, kind: KindName, database_id: int) -> None:
    """From now on nobody sees it."""
    await remove(context, await lock(context, kind, database_id, *REMOVABLE))


async def remove(context: Context, database: DatabaseFacts) -> None:
    """One that is locked, in a status that allows it."""
    await state_queries.set_deleting(context.db, database.id)
    await charge(context.db, database.id, context.clock.now())
    await name_soon(context.db, context.get(JobQueue))
    args = DatabaseArgs(database_id=database.id)
    await log.start(context, jobs.DELETE, args, entity_of(database))
