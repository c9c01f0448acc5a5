"""Debian packages and package sources, as the host's own apt knows them."""

from collections.abc import Iterable
from pathlib import Path

from roost.engines.qemu.images.commands import ImageError, run

RELEASE = "bookworm"
"""The Debian release that images are made of; the host's sources must offer it."""

RETRIES = "Acquire::Retries=5"
"""An option of apt: a mirror that stumbles once must not cost a whole build."""


async def download(names: Iterable[str], directory: Path) -> None:
    """Fetch packages and unpack them all into `directory`; nothing is installed on the host."""
    archive = directory.with_name(f"{directory.name}.debs")
    archive.mkdir()
    options = ("-o", "APT::Sandbox::User=root", "-o", RETRIES)
    await run("apt-get", *options, "-q", "download", *names, cwd=archive)
    for package in sorted(archive.iterdir()):
        await run("dpkg-deb", "-x", package, directory)


async def newest_kernel() -> str:
    """The package that Debian's cloud kernel stands for at present."""
    answer = await run("apt-cache", "depends", "--important", "linux-image-cloud-amd64")
    for line in answer.decode().splitlines():
        relation, _, name = line.strip().partition(": ")
        if relation == "Depends" and name.startswith("linux-image-"):
            return name
    raise ImageError("the package sources offer no linux-image-cloud-amd64; run apt-get update")


async def sources() -> list[str]:
    """The host's entries for RELEASE, in the one-line style."""
    answer = await run(
        "apt-get",
        "indextargets",
        "--format",
        "$(REPO_URI) $(RELEASE) $(COMPONENT)",
        "Created-By: Packages",
        "Origin: Debian",
    )
    entries = [line.split() for line in answer.decode().splitlines()]
    found = [f"deb {uri} {suite} {part}" for uri, suite, part in entries if _wanted(suite)]
    if not found:
        raise ImageError(f"the package sources of this host do not offer Debian {RELEASE}")
    return list(dict.fromkeys(found))


def _wanted(suite: str) -> bool:
    return suite == RELEASE or suite in (f"{RELEASE}-updates", f"{RELEASE}-security")


async def proxy_options() -> list[str]:
    """The host's apt proxy as options of mmdebstrap."""
    answer = await run("apt-config", "dump", "Acquire::http::Proxy", "Acquire::https::Proxy")
    return [f"--aptopt={line}" for line in answer.decode().splitlines() if '""' not in line]
