"""Whether database servers can run on this host."""

import os
import pwd
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from roost.engines.databases.firewall import Firewall
from roost.engines.databases.mounts import mount_problem
from roost.engines.databases.programs import ENVIRONMENT

_PACKAGES = {
    "mke2fs": "e2fsprogs",
    "mount": "mount",
    "nft": "nftables",
    "zstd": "zstd",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "setsid": "util-linux",
    "unshare": "util-linux",
}


async def problem_of(
    root: Path, user: str, packages: Mapping[str, str], missing: Iterable[str] = ()
) -> str | None:
    """The reason why this host cannot run them, or None. `user`: as whom they run; `packages`: of
    Debian, by the program's own tools; `missing`: packages of which that is known."""
    if os.geteuid() != 0:
        return "only root may run database servers behind a packet filter"
    if absent := (*missing, *_missing({**packages, **_PACKAGES})):
        return f"these packages are not installed: {', '.join(dict.fromkeys(absent))}"
    try:
        pwd.getpwnam(user)
    except KeyError:
        return f"there is no user {user}"
    return await mount_problem() or await Firewall(root).problem()


def _missing(packages: Mapping[str, str]) -> list[str]:
    path = ENVIRONMENT["PATH"]
    return [name for tool, name in packages.items() if shutil.which(tool, path=path) is None]
