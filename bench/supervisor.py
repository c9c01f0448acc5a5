"""python -m bench.supervisor ROOT: mend one database as it loses servers, until it is killed.

The specification comes by the standard input, as its password is nobody's business.
"""

import asyncio
import pickle
import sys
from pathlib import Path

import click

from roost.core.engine import EngineError
from roost.engines.databases.addresses import Addresses
from roost.engines.mariadb.databases import MariadbDatabases
from roost.resources.databases.engine import DatabaseSpec

ADDRESSES = Addresses.of("127.0.0.1", None, None, None, "local.db.roost.internal")


def open_engine(root: Path, version: str) -> MariadbDatabases:
    return MariadbDatabases(root, version, ADDRESSES, root / "secret.key")


async def supervise(engine: MariadbDatabases, spec: DatabaseSpec) -> None:
    """As the server does: at once when the engine tells, and again when that has failed."""
    async for _ in engine.faults():
        try:
            await engine.ensure(spec)
            await engine.rebuild(spec)
        except EngineError as error:
            click.echo(f"not mended: {error}", err=True)


async def _main() -> None:
    spec, version = pickle.load(sys.stdin.buffer)
    work = asyncio.create_task(supervise(open_engine(Path(sys.argv[1]), version), spec))
    click.echo("ready")
    await work


if __name__ == "__main__":
    asyncio.run(_main())
