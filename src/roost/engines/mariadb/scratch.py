"""A server beside all others that shows whether a backup is of any use."""

import os
from dataclasses import replace

from pydantic import SecretStr

from roost.core.engine import EngineError
from roost.engines.databases import scratch
from roost.engines.databases.programs import PATIENT
from roost.engines.databases.scratch import VERIFYING
from roost.engines.mariadb import backups
from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.host import Host
from roost.engines.mariadb.server import Server, owner
from roost.resources.databases.engine import DatabaseSpec

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


class Scratch(scratch.Scratch[Folder]):
    """With a buffer pool of the least size."""

    def __init__(self, host: Host, database_id: int) -> None:
        super().__init__(host, database_id)
        self._host = host

    @property
    def _server(self) -> Server:
        return Server(self._folder, PATIENT)

    async def _restore(self, spec: DatabaseSpec, backup_id: int) -> None:
        key, packed = self._host.keys.of(self._database), self._folder.backup(backup_id)
        await backups.unpack(self._folder, packed, key, PATIENT)
        self._folder.new_data.rename(self._folder.data)
        small = replace(spec, memory=self.memory)
        await self._host.configure(self._folder, small, _NO_PORT, None, _SETTINGS)
        os.chown(self._folder.path, *owner())
        await self._server.start(key)

    async def _check(self) -> None:
        """All rows and indexes of all tables can be read."""
        statements = await self._server.execute(VERIFYING, _CHECKS)
        answers = await self._server.execute(VERIFYING, SecretStr(statements))
        kinds = {line.split("\t")[2].lower() for line in answers.splitlines() if line}
        if "error" in kinds:
            raise EngineError(f"{VERIFYING}: there are damaged tables in it")
