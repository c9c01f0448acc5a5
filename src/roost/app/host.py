"""The host that a worker is of: who it is, and whether it may serve."""

from pathlib import Path

from roost.core.hosts import queries
from roost.errors import OperatorError
from roost.ids import new_uuid
from roost.settings import MAIN_HOST, Settings
from roost.store import Store
from roost.threads import DISK

_HOME = "host.id"
"""Tells apart two machines, or state folders, that have the same name by mistake."""


class HostError(OperatorError):
    """A worker may not serve under this name, or not at this moment."""


async def join(store: Store, settings: Settings) -> None:
    """Be one of the host's workers. Raises HostError."""
    name = settings.host
    home = None if name == MAIN_HOST else await DISK.run(_home, settings.state)
    async with store.transaction() as db:
        if not await queries.register(db, name, home):
            raise HostError(
                f"another machine, or another state folder, serves as host {name}: choose another"
                f" name, or run `roost host forget {name}` if that one is gone for good"
            )
        facts = await queries.lock(db, name)
        if facts is not None and facts.state == "fenced":
            raise HostError(f"host {name} is fenced: its guests may run elsewhere")


def _home(state: Path) -> str:
    path = state / _HOME
    if not path.exists():
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(new_uuid())
    return path.read_text().strip()
