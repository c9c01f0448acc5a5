"""What the MariaDB servers of one region share on this host."""

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from roost.engines.databases.addresses import Addresses
from roost.engines.databases.host import ServerHost
from roost.engines.databases.installed import Installed
from roost.engines.databases.temporary import lay_out
from roost.engines.mariadb.config import render
from roost.engines.mariadb.encryption import Keys
from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.prerequisites import server_program, server_version
from roost.engines.mariadb.server import owner
from roost.engines.mariadb.template import Template
from roost.resources.databases.engine import DatabaseSpec


class Host(ServerHost[Folder]):
    def __init__(self, root: Path, version: str, addresses: Addresses, key_file: Path) -> None:
        """`version`: of the programs; `key_file`: what seals those of encrypted data."""
        super().__init__(root, addresses, Folder)
        self._installed = Installed(version, server_program, server_version)
        self.keys = Keys(key_file)

    @property
    def version(self) -> str:
        """That of the programs."""
        return self._installed.known

    @property
    def template(self) -> Template:
        return Template(self.root, self.version)

    async def refresh(self) -> None:
        await self._installed.refresh()

    async def fill(self, database: Folder, node: Folder, *, encrypted: bool) -> None:
        """Empty data for a node of the database, or for itself."""
        if encrypted:
            self.keys.make(database)
        key = self.keys.of(database)
        if key is None:
            await self.template.copy(node.data)
        else:
            await self.template.make_encrypted(node, key)

    async def configure(
        self,
        node: Folder,
        spec: DatabaseSpec,
        port: int,
        number: int | None = None,
        other: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        """What a server reads when it starts; with its `number` in a cluster, and with what is
        otherwise than usual."""
        await self.refresh()
        await self.certify(node, spec, owner())
        node.files.mkdir(mode=0o700, exist_ok=True)
        node.temporary.mkdir(mode=0o700, exist_ok=True)
        os.chown(node.temporary, *owner())
        await lay_out(node, spec.disk, owner())
        node.configuration.write_text(render(spec, self.addresses.listen, port, number, other))
        node.set_version(self.version)
        node.set_disk(spec.disk)
