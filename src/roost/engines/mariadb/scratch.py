"""A server beside all others that shows whether a backup is of any use."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

from pydantic import SecretStr

from roost.core.engine import EngineError
from roost.engines.databases.programs import PATIENT
from roost.engines.locks import locked
from roost.engines.mariadb import backups
from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.host import Host
from roost.engines.mariadb.server import Server, owner
from roost.resources.databases.engine import DatabaseSpec
from roost.threads import DISK

_DOING = "The backup could not be verified"
_MEMORY = 128
"""MB; so much as for a buffer pool of the least size."""
_NO_PORT = 3306
"""Nobody listens there."""
_SETTINGS: dict[str, object] = {"skip-networking": "ON", "event-scheduler": "OFF"}
_CHECKS = SecretStr(r"""
    select concat('check table `', replace(table_schema, '`', '``'), '`.`',
        replace(table_name, '`', '``'), '`;')
    from information_schema.tables
    where table_type = 'BASE TABLE'
        and table_schema not in ('information_schema', 'performance_schema')
        and concat(table_schema, table_name) not regexp '[[:cntrl:]\\\\]'
    """)
"""Statements; a name that is shown otherwise than it is written fits none."""


class Scratch:
    """Where one backup of a database at a time is tried."""

    def __init__(self, host: Host, database_id: int) -> None:
        self._host = host
        self._database = host.folder(database_id)
        path = host.root / "checks" / self._database.path.name
        self._folder = Folder(path, self._database.backups)
        self._server = Server(self._folder, PATIENT)

    async def verify(self, spec: DatabaseSpec, backup_id: int) -> None:
        """Raises EngineError when the backup cannot be restored."""
        self._folder.path.mkdir(mode=0o711, parents=True, exist_ok=True)
        try:
            async with locked(self._folder.path):
                try:
                    await self._restore(spec, backup_id)
                    await self._check()
                finally:
                    await self._clear()
        except FileNotFoundError as error:
            raise EngineError(f"{_DOING}: another verification has just ended") from error

    async def tidy(self) -> None:
        """Nothing is left of what somebody began who was killed."""
        if self._folder.path.is_dir():
            async with locked(self._folder.path):
                await self._clear()

    async def stop(self) -> None:
        await self._server.stop()

    async def _restore(self, spec: DatabaseSpec, backup_id: int) -> None:
        await self._server.stop()
        await DISK.finish(_remove, self._folder.data)
        key, packed = self._host.keys.of(self._database), self._folder.backup(backup_id)
        await backups.unpack(self._folder, packed, key, PATIENT)
        self._folder.new_data.rename(self._folder.data)
        small = replace(spec, memory=_MEMORY)
        await self._host.configure(self._folder, small, _NO_PORT, None, _SETTINGS)
        os.chown(self._folder.path, *owner())
        await self._server.start(key)

    async def _check(self) -> None:
        """All rows and indexes of all tables can be read."""
        statements = await self._server.execute(_DOING, _CHECKS)
        answers = await self._server.execute(_DOING, SecretStr(statements))
        kinds = {line.split("\t")[2].lower() for line in answers.splitlines() if line}
        if "error" in kinds:
            raise EngineError(f"{_DOING}: there are damaged tables in it")

    async def _clear(self) -> None:
        await self._server.stop()
        await DISK.finish(_remove, self._folder.path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
