"""Alembic inside this process, over asyncpg."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from roost.store.pool import connect


async def upgrade(dsn: str, revision: str) -> None:
    await _run(dsn, partial(command.upgrade, revision=revision))


async def downgrade(dsn: str, revision: str) -> None:
    await _run(dsn, partial(command.downgrade, revision=revision))


async def _run(dsn: str, action: Callable[[Config], None]) -> None:
    engine = create_async_engine(
        "postgresql+asyncpg://", async_creator=partial(connect, dsn), poolclass=NullPool
    )

    def act(connection: Connection) -> None:
        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
        config.attributes["connection"] = connection
        action(config)

    async with engine.begin() as connection:
        await connection.run_sync(act)
