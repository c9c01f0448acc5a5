"""What the PostgreSQL servers of one region share on this host."""

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from roost.engines.databases.addresses import Addresses
from roost.engines.databases.host import ServerHost, port_of
from roost.engines.databases.installed import Installed
from roost.engines.databases.temporary import lay_out
from roost.engines.postgresql.config import IDENTITIES, access_kind, render, render_access
from roost.engines.postgresql.folder import Folder
from roost.engines.postgresql.releases import servers
from roost.engines.postgresql.releases import versions as installed_versions
from roost.engines.postgresql.server import owner
from roost.engines.postgresql.template import Template
from roost.resources.databases.engine import DatabaseSpec

_PORTS = range(12_000, 20_000)
"""None that MariaDB's servers have."""
_LOGIN = "login"
"""How the account's user comes, and what it is called."""


class Host(ServerHost[Folder]):
    def __init__(self, root: Path, versions: Mapping[str, str], addresses: Addresses) -> None:
        """`versions`: what is installed of each release series, the newest first."""
        super().__init__(root, addresses, Folder, _PORTS)
        self._installed = Installed(versions, servers, installed_versions)

    @property
    def versions(self) -> Mapping[str, str]:
        """What is installed of each release series, the newest first."""
        return self._installed.known

    async def refresh(self) -> None:
        await self._installed.refresh()

    async def fill(self, node: Folder, spec: DatabaseSpec) -> None:
        """Empty data, which nobody has ever connected to."""
        template = Template(self.root, spec.shape.version.partition(".")[0])
        await template.copy(node.data)

    async def configure(
        self,
        node: Folder,
        spec: DatabaseSpec,
        other: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        """What a server reads when it starts; with what is otherwise than usual."""
        await self.refresh()
        await self.certify(node, spec, owner())
        for place, mode in ((node.sockets, 0o700), (node.archive, 0o700), (node.temporary, 0o700)):
            place.mkdir(mode=mode, parents=True, exist_ok=True)
            os.chown(place, *owner())
        await lay_out(node, spec.disk, owner())
        text = render(spec, self.addresses.listen, port_of(node), other)
        node.configuration.write_text(text)
        node.identities.write_text(IDENTITIES)
        node.write(_LOGIN, f"{access_kind(spec)} {spec.username}")
        self.admit(node, spec.allow_list)
        node.set_version(self.versions.get(node.major, ""))
        node.set_disk(spec.disk)

    def admit(self, node: Folder, networks: tuple[str, ...]) -> None:
        """Who may log in from where, once the server reads it."""
        kind, user = node.read(_LOGIN).split()
        draft = node.access.with_suffix(".part")
        replicas = self.addresses.listen if node.passwords.exists() else None
        draft.write_text(render_access(kind, user, networks, replicas))
        draft.replace(node.access)
