"""What regions are bound to whose databases are PostgreSQL servers of this host."""

from pathlib import Path

from roost.core.planes import Provider, Site
from roost.engines.databases.addresses import addresses_of
from roost.engines.databases.limits import Limits
from roost.engines.postgresql.databases import PostgresqlDatabases
from roost.engines.postgresql.prerequisites import check
from roost.engines.postgresql.releases import versions
from roost.resources.databases.engine import POSTGRESQL_PLANE, DatabaseEngine
from roost.threads import DISK


async def _check(site: Site) -> str | None:
    return await check(_directory(site))


async def _open(site: Site) -> tuple[DatabaseEngine, str]:
    engine = PostgresqlDatabases(_directory(site), await versions(), addresses_of(site))
    problem = await DISK.run(Limits().problem)
    limits = "" if problem is None else f"; servers take what they want: {problem}"
    return engine, f"PostgreSQL {engine.release}{limits}"


def _directory(site: Site) -> Path:
    return site.settings.state / "postgresql" / site.region.id


PROVIDERS = (Provider(POSTGRESQL_PLANE, PostgresqlDatabases.name, True, _check, _open),)
