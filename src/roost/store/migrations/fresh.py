"""The tables of a new database, without the time and the memory that Alembic takes."""

import runpy
from collections.abc import Iterable
from pathlib import Path

from roost.store.pool import Connection

_MARK = """
create table if not exists alembic_version (
    version_num varchar(32) not null constraint alembic_version_pkc primary key
);
"""


async def build(connection: Connection, revisions: Iterable[Path]) -> None:
    """What Alembic makes of an empty database and these files, in their order. All or nothing."""
    async with connection.transaction():
        await connection.execute(_MARK)
        for path in revisions:
            await connection.execute(runpy.run_path(str(path))["UPGRADE"])
        await connection.execute("insert into alembic_version values ($1)", path.name[:4])
