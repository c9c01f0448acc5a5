"""What the PostgreSQL servers of one region share on this host."""

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from roost.engines.databases.addresses import Addresses
from roost.engines.databases.backups import empty
from roost.engines.databases.host import ServerHost, port_of
from roost.engines.databases.ownership import give
from roost.engines.databases.temporary import lay_out
from roost.engines.postgresql.config import IDENTITIES, access_kind, render, render_access
from roost.engines.postgresql.folder import Folder
from roost.engines.postgresql.server import OWN, owner, run_within
from roost.resources.databases.engine import DatabaseSpec
from roost.threads import DISK

_MAKING = "The database could not be prepared"
_PORTS = range(12_000, 20_000)
"""None that MariaDB's servers have."""
_INITDB = (
    *("--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8", "--data-checksums"),
    *("--auth-local=peer", "--auth-host=scram-sha-256", "--no-instructions"),
)
"""An order of texts that no update of the host's libraries changes: indexes depend on it."""
_LOGIN = "login"
"""How the account's user comes, and what it is called."""
_PRIVATE = f"""create database {OWN}
revoke all on database {OWN} from public
revoke connect on database template1 from public
"""
"""What the server does before anybody can connect, a statement a line."""


class Host(ServerHost[Folder]):
    def __init__(self, root: Path, versions: Mapping[str, str], addresses: Addresses) -> None:
        """`versions`: what is installed of each release series, the newest first."""
        super().__init__(root, addresses, Folder, _PORTS)
        self.versions = versions

    async def fill(self, node: Folder, spec: DatabaseSpec) -> None:
        """Empty data, which nobody has ever connected to."""
        major, inside = spec.shape.version.partition(".")[0], Path("/mnt") / node.data.name
        await DISK.finish(empty, node.data)
        await DISK.finish(give, node.data, owner())
        await run_within(_MAKING, node, major, "initdb", *_INITDB, f"--pgdata={inside}")
        single = ("--single", "-D", inside, "postgres")
        await run_within(_MAKING, node, major, "postgres", *single, feed=_PRIVATE)

    async def configure(
        self,
        node: Folder,
        spec: DatabaseSpec,
        other: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        """What a server reads when it starts; with what is otherwise than usual."""
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
        draft.write_text(render_access(kind, user, networks))
        draft.replace(node.access)
