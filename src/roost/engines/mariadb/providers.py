"""What regions are bound to whose databases are MariaDB servers of this host."""

from pathlib import Path

from roost.core.planes import Provider, Site
from roost.engines.mariadb.databases import MariadbDatabases
from roost.engines.mariadb.host import Addresses
from roost.engines.mariadb.limits import Limits
from roost.engines.mariadb.prerequisites import check, server_version
from roost.resources.databases.engine import DATABASE_PLANE, DatabaseEngine
from roost.threads import DISK


async def _check(site: Site) -> str | None:
    return await check(_directory(site))


async def _open(site: Site) -> tuple[DatabaseEngine, str]:
    version, settings = await server_version(), site.settings
    addresses = Addresses.of(
        settings.databases_listen,
        settings.databases_host,
        settings.databases_replicas_listen,
        settings.databases_replicas_host,
        f"{site.region.id}.{settings.databases_domain}",
    )
    engine = MariadbDatabases(_directory(site), version, addresses, settings.sealing_key)
    problem = await DISK.run(Limits().problem)
    limits = "" if problem is None else f"; servers take what they want: {problem}"
    return engine, f"MariaDB {version}{limits}"


def _directory(site: Site) -> Path:
    return site.settings.state / "mariadb" / site.region.id


PROVIDERS = (Provider(DATABASE_PLANE, MariadbDatabases.name, True, _check, _open),)
