"""Empty data, made once for each release series and copied for each database."""

import shutil
from pathlib import Path
from tempfile import mkdtemp

from roost.engines.databases.backups import remove
from roost.engines.databases.folder import INSIDE
from roost.engines.databases.ownership import give
from roost.engines.databases.programs import run
from roost.engines.locks import locked
from roost.engines.postgresql.folder import Folder
from roost.engines.postgresql.server import OWN, owner, run_within
from roost.threads import DISK

_DOING = "The database could not be prepared"
_DRAFT = "draft-"
_INITDB = (
    *("--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8", "--data-checksums"),
    *("--auth-local=peer", "--auth-host=scram-sha-256", "--no-instructions"),
)
"""An order of texts that no update of the host's libraries changes: indexes depend on it."""
_PRIVATE = f"""create database {OWN}
revoke all on database {OWN} from public
revoke connect on database template1 from public
"""
"""What the server does before anybody can connect, a statement a line."""


class Template:
    """Data that nobody has ever connected to."""

    def __init__(self, root: Path, major: str) -> None:
        self._root = root
        self._major = major
        self._folder = Folder(root / f"template-{major}", root / "backups")

    async def copy(self, target: Path) -> None:
        """Make a data folder; what was begun there is made anew. Raises EngineError."""
        await self._ensure()
        await DISK.finish(remove, target)
        await run(_DOING, ("cp", "-a", "--reflink=auto", "--", self._folder.data, target))

    async def _ensure(self) -> None:
        if self._folder.data.is_dir():
            return
        async with locked(self._root):
            if not self._folder.data.is_dir():
                await self._make()

    async def _make(self) -> None:
        folder = self._folder
        folder.path.mkdir(mode=0o711, exist_ok=True)
        draft = await DISK.finish(_begin, folder.path)
        inside = INSIDE / draft.name
        await run_within(_DOING, folder, self._major, "initdb", *_INITDB, f"--pgdata={inside}")
        single = ("--single", "-D", inside, "postgres")
        await run_within(_DOING, folder, self._major, "postgres", *single, feed=_PRIVATE)
        draft.rename(folder.data)


def _begin(place: Path) -> Path:
    """A draft that nobody else writes to: what a caller has begun who was killed goes on for a
    while in its own one."""
    for former in place.glob(f"{_DRAFT}*"):
        shutil.rmtree(former, ignore_errors=True)
    draft = Path(mkdtemp(prefix=_DRAFT, dir=place))
    give(draft, owner())
    return draft
