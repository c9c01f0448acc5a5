"""Where a server sees its folder: at a place that all can reach, in its own mount namespace."""

from roost.core.engine import EngineError
from roost.engines.databases.folder import INSIDE, Folder
from roost.engines.databases.programs import Command, run

_BIND = 'mount --bind "$0" "$1" && cd "$1"'
_GO_ON = 'shift 2 && exec "$@" < /dev/null'
"""What the input was stays in no descriptor of the program."""


def within(folder: Folder, user: str, command: Command, *mounts: str) -> Command:
    """The command where the folder is at that place. `mounts`: shell, what else is mounted there,
    to which the place is `$1` and the user `$2`."""
    script = " && ".join((_BIND, *mounts, _GO_ON))
    unshare = ("unshare", "--mount", "--propagation", "private", "--")
    return (*unshare, "sh", "-c", script, folder.path, INSIDE, user, *command)


async def mount_problem() -> str | None:
    """Why there can be none on this host, or None."""
    command = ("unshare", "--mount", "--propagation", "private", "--")
    try:
        await run("mount namespaces", (*command, "mount", "--bind", INSIDE, INSIDE))
    except EngineError:
        return "mount namespaces are forbidden here"
    return None
