"""Whether PostgreSQL servers can run on this host."""

import os
import pwd
import shutil
from pathlib import Path

from roost.engines.databases.firewall import Firewall
from roost.engines.databases.mounts import mount_problem
from roost.engines.databases.programs import ENVIRONMENT
from roost.engines.postgresql.releases import installed
from roost.engines.postgresql.server import USER

_PACKAGES = {
    "mke2fs": "e2fsprogs",
    "mount": "mount",
    "nft": "nftables",
    "tar": "tar",
    "zstd": "zstd",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "setsid": "util-linux",
    "unshare": "util-linux",
}


async def check(root: Path) -> str | None:
    """The reason why this host cannot run them, or None."""
    if os.geteuid() != 0:
        return "only root may run database servers behind a packet filter"
    if missing := _missing():
        return f"these packages are not installed: {', '.join(missing)}"
    try:
        pwd.getpwnam(USER)
    except KeyError:
        return f"there is no user {USER}"
    return await mount_problem() or await Firewall(root).problem()


def _missing() -> tuple[str, ...]:
    path = ENVIRONMENT["PATH"]
    found = [name for tool, name in _PACKAGES.items() if shutil.which(tool, path=path) is None]
    if not installed():
        found.insert(0, "postgresql")
    return tuple(dict.fromkeys(found))
