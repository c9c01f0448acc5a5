"""The Debian packages that the engine and the image builds need on the host."""

import subprocess
from collections.abc import Iterable

QEMU_PACKAGES = ("e2fsprogs", "qemu-system-x86", "qemu-utils")
"""Enough to run guests and to import images."""

IMAGE_PACKAGES = ("cpio", "e2fsprogs", "kmod", "mmdebstrap", "qemu-utils")
"""Enough to build `roost/mini` and `roost/debian12`."""


def missing_packages(
    wanted: Iterable[str] = (*QEMU_PACKAGES, *IMAGE_PACKAGES),
) -> tuple[str, ...]:
    """Those of `wanted` that dpkg does not hold; all of them where there is no dpkg."""
    names = tuple(dict.fromkeys(wanted))
    query = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *names]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, check=False)  # noqa: S603
    except FileNotFoundError:
        return names
    lines = (line.split() for line in answer.stdout.splitlines())
    installed = {name for name, status in lines if status == "installed"}
    return tuple(name for name in names if name not in installed)
