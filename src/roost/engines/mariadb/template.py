"""An empty data folder, made once for each version of the server and copied for each database."""

import shutil
from pathlib import Path

from pydantic import SecretStr

from roost.engines.databases.folder import INSIDE
from roost.engines.databases.ownership import give as give_to
from roost.engines.databases.programs import run
from roost.engines.locks import locked
from roost.engines.mariadb.encryption import options, within
from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.server import USER, owner
from roost.engines.mariadb.system_tables import read_time_zones
from roost.threads import DISK

_DOING = "The database could not be prepared"
_INSTALL = (
    *("mariadb-install-db", "--no-defaults", "--user=root"),
    *("--auth-root-authentication-method=socket", "--auth-root-socket-user=root"),
    *("--skip-test-db", "--skip-name-resolve", "--innodb-log-file-size=16M"),
)


class Template:
    """root of the host is the administrator, over the socket only."""

    def __init__(self, root: Path, version: str) -> None:
        self._root = root
        self._path = root / f"template-{version}-with-zones"

    async def copy(self, target: Path) -> None:
        """Make a data folder; what was begun there is made anew."""
        await self._ensure()
        await DISK.run(lambda: shutil.rmtree(target, ignore_errors=True))
        await run(_DOING, ("cp", "-a", "--reflink=auto", "--", self._path, target))

    async def make_encrypted(self, folder: Folder, key: SecretStr) -> None:
        """A data folder that never was in the clear."""
        await DISK.run(lambda: shutil.rmtree(folder.data, ignore_errors=True))
        places = (f"--datadir={INSIDE / folder.data.name}", f"--tmpdir={INSIDE}")
        command = (*_INSTALL, *options(), *places)
        await run(_DOING, within(folder, USER, key, command), feed=key)
        await DISK.run(give, folder.data)

    async def _ensure(self) -> None:
        if self._path.is_dir():
            return
        async with locked(self._root):
            if self._path.is_dir():
                return
            draft = self._path.with_suffix(".part")
            await DISK.run(lambda: shutil.rmtree(draft, ignore_errors=True))
            await run(_DOING, (*_INSTALL, f"--datadir={draft}", f"--tmpdir={self._root}"))
            await self._load_time_zones(draft)
            await DISK.run(give, draft)
            draft.rename(self._path)

    async def _load_time_zones(self, data: Path) -> None:
        """Here they cost each database nothing."""
        options = ("--bootstrap", f"--datadir={data}", f"--tmpdir={self._root}", "--user=root")
        if (zones := await read_time_zones()) is not None:
            await run(_DOING, ("mariadbd", "--no-defaults", *options), feed=zones)


def give(path: Path) -> None:
    """All below it is the server's."""
    give_to(path, owner())
