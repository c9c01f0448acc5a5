"""Room for a server's temporary files that the kernel bounds: a file system of their own.

Files without a name count there as well, and a query that finds no room fails alone.
"""

from pathlib import Path

from roost.engines.databases.folder import INSIDE, Folder
from roost.engines.databases.programs import run
from roost.resources.databases.engine import temporary_room
from roost.threads import DISK

_DOING = "There is no room for the database's temporary files"
_MB = 1024 * 1024
_FILES = 16_384
"""At most."""
_MOST_IN_MEMORY = 256
"""MB, which the server's memory limit counts too."""
_OPTIONS = "noatime,nodev,nosuid,noexec"


async def lay_out(node: Folder, disk: int, owner: tuple[int, int]) -> None:
    """Empty, and for the next start; what a server that has just ended may still hold is left
    alone. `disk`: MB of the plan; `owner`: user and group. Raises EngineError."""
    draft = node.temporary_image.with_suffix(".part")
    await DISK.finish(_begin, draft, temporary_room(disk) * _MB)
    user, group = owner
    extended = f"lazy_itable_init=1,nodiscard,root_owner={user}:{group}"
    making = ("mke2fs", "-q", "-F", "-t", "ext4", "-O", "^has_journal,^resize_inode", "-m", "0")
    await run(_DOING, (*making, "-N", str(_FILES), "-E", extended, draft))
    await DISK.finish(draft.replace, node.temporary_image)


def _begin(draft: Path, size: int) -> None:
    draft.unlink(missing_ok=True)
    with draft.open("wb") as image:
        image.truncate(size)


def mounting(node: Folder) -> str:
    """Shell: mount it where the server looks for it. In memory where the host has no loop devices,
    as in many containers. Of a file that is not there `mount` would take another one that is called
    the same in its own mount namespace."""
    image = INSIDE / node.temporary_image.name
    place = INSIDE / node.temporary.relative_to(node.path)
    size = min(_MOST_IN_MEMORY, temporary_room(node.disk or 0))
    on_disk = f"mount -t ext4 -o loop,discard,noinit_itable,{_OPTIONS} {image} {place}"
    bounds = f"size={size}m,nr_inodes={_FILES},mode=0777"
    in_memory = f"mount -t tmpfs -o {bounds},{_OPTIONS} temporary {place}"
    return f"{{ test -e {image} && {on_disk} 2>/dev/null || {in_memory}; }}"
