"""The host that a worker is of: who it is, and whether it may serve."""

import asyncio
from pathlib import Path

import asyncpg
import structlog

from roost.core.engine import EngineError
from roost.core.hosts import queries
from roost.core.planes import Engines
from roost.errors import OperatorError
from roost.ids import new_uuid
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.nodebalancers.engine import BALANCER_PLANE
from roost.settings import MAIN_HOST, Settings
from roost.store import Store
from roost.threads import DISK

_LOOK_SECONDS = 2.0
HOME = "host.id"
"""Tells apart two machines, or state folders, that have the same name by mistake."""

_log = structlog.get_logger(__name__)


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


async def fenced(store: Store, name: str) -> None:
    """Returns when the host has been given up by its operator."""
    while True:
        try:
            facts = await queries.find(store, name)
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError):
            _log.warning("host_not_read", host=name)
        else:
            if facts is not None and facts.state == "fenced":
                return
        await asyncio.sleep(_LOOK_SECONDS)


async def end_guests(engines: Engines) -> list[str]:
    """Others may have them by now, and the NodeBalancers. In which regions some may still run."""
    left = []
    # Before the guests' network, which they would make anew.
    for region, balancers in engines.by_region(BALANCER_PLANE).items():
        try:
            await balancers.shut_down()
        except EngineError as error:
            _log.error("nodebalancers_not_ended", region=region, reason=str(error))
    for region, engine in engines.by_region(INSTANCE_PLANE).items():
        try:
            await engine.shut_down()
        except EngineError as error:
            _log.error("guests_not_ended", region=region, reason=str(error))
            left.append(region)
    return left


def _home(state: Path) -> str:
    path = state / HOME
    if not path.exists():
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(new_uuid())
    return path.read_text().strip()
