"""Making managed databases."""

import secrets
import string

import orjson

from roost.core.access import give_to_creator
from roost.core.catalog import Catalog
from roost.core.context import Context
from roost.core.events import log
from roost.core.planes import Engines
from roost.errors import invalid
from roost.resources.databases import jobs, limits, queries
from roost.resources.databases.args import DatabaseArgs
from roost.resources.databases.bodies import CreateDatabase, Updates
from roost.resources.databases.engine import DATABASE_PLANE, DatabaseShape
from roost.resources.databases.entity import DATABASE
from roost.resources.databases.queries import NewDatabase
from roost.secrets import Box

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
    catalog, engine = context.get(Catalog), context.get(Engines).of(DATABASE_PLANE, body.region)
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
    )
    if objection := engine.objection(shape):
        raise invalid(objection.reason, objection.field)
    new = NewDatabase(
        account_id=context.account_id,
        label=body.label,
        region=body.region,
        engine=engine.name,
        type=plan.id,
        shape=shape,
        vcpus=plan.vcpus,
        memory=plan.memory,
        disk=plan.disk,
        allow_list=body.allow_list,
        updates=dump_updates(_UPDATES),
        password=new_password(context),
        now=context.clock.seconds(),
    )
    made = await queries.insert(context.db, new)
    if made is None:
        raise invalid(LABEL_TAKEN, "label")
    database_id, record = made
    await give_to_creator(context, DATABASE.name, database_id)
    entity = DATABASE.entity(database_id, body.label)
    await log.start(context, jobs.CREATE, DatabaseArgs(database_id=database_id), entity)
    await limits.check_new(context, body.region)
    return record
