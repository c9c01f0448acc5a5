"""What regions are bound to whose databases are MariaDB servers of this host."""

from pathlib import Path

from roost.core.planes import Provider, Site
from roost.engines.databases.addresses import addresses_of
from roost.engines.databases.limits import Limits
from roost.engines.mariadb.databases import MariadbDatabases
from roost.engines.mariadb.prerequisites import check, server_version
from roost.resources.databases.engine import DATABASE_PLANE, DatabaseEngine
from roost.threads import DISK


async def _check(site: Site) -> str | None:
    return await check(_directory(site))


async def _open(site: Site) -> tuple[DatabaseEngine, str]:
    version, addresses = await server_version(), addresses_of(site)
    engine = MariadbDatabases(_directory(site), version, addresses, site.settings.sealing_key)
    problem = await DISK.run(Limits().problem)
    limits = "" if problem is None else f"; servers take what they want: {problem}"
    return engine, f"MariaDB {version}{limits}"


def _directory(site: Site) -> Path:
    return site.settings.state / "mariadb" / site.region.id


PROVIDERS = (Provider(DATABASE_PLANE, MariadbDatabases.name, True, _check, _open),)
