"""What the operator's pages stand on: the same as the commands beside a server."""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime

import structlog

from roost.app.fsck import check_state
from roost.app.lab.caller import LabCaller
from roost.app.lab.clock import clock_beside
from roost.app.operator import drains, hosts
from roost.app.operator.top import Top, Watch
from roost.clock import Clock
from roost.errors import OperatorError
from roost.settings import Settings
from roost.store import Store

_MOST_LINES = 1000

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Looked:
    """What the last comparison of the database with the engines has found."""

    at: datetime
    findings: list[str]
    outcome: str


@dataclass(slots=True)
class Moving:
    """A host that is being emptied."""

    task: asyncio.Task[None]
    lines: list[str]


@dataclass
class Desk:
    settings: Settings
    store: Store
    looked: Looked | None = None
    moving: dict[str, Moving] = field(default_factory=dict)
    """By host, also when it has ended."""
    _watching: asyncio.Lock = field(default_factory=asyncio.Lock)
    _checking: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self._watch = Watch(self.settings, self.store)

    async def clock(self) -> Clock:
        """The server's, also where a lab has moved it."""
        return await clock_beside(self.settings, self.store)

    @property
    def lab(self) -> LabCaller:
        """The lab of the server of this state."""
        return LabCaller(self.settings.state)

    async def look(self) -> Top:
        async with self._watching:
            return await self._watch.look()

    async def check(self, repair: bool) -> Looked:
        """One at a time: another one would find what this one mends."""
        async with self._checking:
            findings = list[str]()
            outcome = await check_state(self.settings, repair, findings.append)
            now = (await self.clock()).now()
            self.looked = Looked(now, findings[:_MOST_LINES], str(outcome))
            return self.looked

    def drain(self, name: str, at_once: int, *, live: bool) -> None:
        """Go on with it while pages are looked at. Raises OperatorError where one is at it."""
        known = self.moving.get(name)
        if known is not None and not known.task.done():
            raise OperatorError(f"host {name} is being drained already")
        lines = list[str]()
        task = asyncio.create_task(self._drain(name, at_once, lines, live=live))
        self.moving[name] = Moving(task, lines)

    async def _drain(self, name: str, at_once: int, lines: list[str], *, live: bool) -> None:
        try:
            left = await drains.drain(
                self.store, self.settings, name, at_once, lines.append, live=live
            )
            lines.append(f"host {name} is draining, and has {left} instances and NodeBalancers")
        except OperatorError as error:
            lines.append(str(error))
        except Exception:
            _log.exception("drain_failed", host=name)
            lines.append("The drain failed: the log of this command says why.")

    async def undrain(self, name: str) -> None:
        """Raises OperatorError."""
        known = self.moving.get(name)
        if known is not None and not known.task.done():
            known.task.cancel()
            await asyncio.gather(known.task, return_exceptions=True)
            known.lines.append("Stopped: the host takes new guests again.")
        await hosts.undrain(self.store, name)

    async def close(self) -> None:
        """What is on its way to another host gets there; the rest stays."""
        tasks = [each.task for each in self.moving.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
