"""How the whole cloud is at this moment: what rows say, and what the server of the state sees."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from roost.app.all_groups import all_groups
from roost.app.operator.scrape import Requests, Scrape, ScrapeError, requests_between, scrape
from roost.app.served import is_served, last_served
from roost.clock import Clock
from roost.core.hosts.holdings import Holdings, silent_hosts
from roost.jobs.listing_queries import BusyAccount, busiest
from roost.jobs.upkeep_queries import Count, count, count_failed
from roost.jobs.worker_queries import count_alive
from roost.resources.compute.totals_queries import promised_by_status
from roost.settings import Settings
from roost.store import FAULTS, Queries, health_queries
from roost.store.health_queries import ServerHealth

_LATELY = timedelta(hours=1)
_FIRST_SECONDS = 1.0
"""Between the two looks of which the first one needs to know what there is in a second."""
_ACCOUNTS = 10

MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Guests:
    """Instances of a region with one status."""

    region: str
    status: str
    instances: int


@dataclass(frozen=True, slots=True)
class Jobs:
    queued: int
    oldest_queued: float | None
    """Seconds since the first of those that are due became due."""
    running: int
    waiting: int
    """Between two attempts."""
    oldest_begun: float | None
    """Seconds since the first of those that run or wait began."""
    failed: dict[str, int]
    """In the last hour, by kind."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What the database says."""

    workers: int
    guests: list[Guests]
    jobs: Jobs
    accounts: list[BusyAccount]
    """The busiest by jobs of the last hour."""
    database: ServerHealth


@dataclass(frozen=True, slots=True)
class EngineState:
    region: str
    plane: str
    engine: str
    up: bool


@dataclass(frozen=True, slots=True)
class Room:
    """Bytes of a host's memory, or of a file system of it."""

    region: str
    what: str
    """MEMORY, or a folder on the file system."""
    free: int
    size: int


@dataclass(frozen=True, slots=True)
class Seen:
    """What the server of the state counts, and saw within the last minute."""

    url: str
    requests: Requests | None
    """None when it has just begun."""
    engines: list[EngineState]
    room: list[Room]


@dataclass(frozen=True, slots=True)
class Top:
    time: datetime
    problems: list[str]
    """Hosts that are silent, and why a part is missing."""
    rows: Rows | None
    server: Seen | None


class Watch:
    """Looks again and again; what happens in a second is counted from one look to the next."""

    def __init__(self, settings: Settings, store: Queries) -> None:
        self._settings = settings
        self._store = store
        self._before: Scrape | None = None

    async def look(self) -> Top:
        now, problems = Clock().now(), list[str]()
        server: Seen | None = None
        rows: Rows | None = None
        try:
            server = await self._see()
        except ScrapeError as error:
            self._before = None
            problems.append(str(error))
        try:
            rows = await _read(self._store, now, self._settings.job_lease)
            problems += silent_hosts(await Holdings(*all_groups().holdings).silent(self._store))
        except FAULTS as error:
            problems.append(f"the database does not answer: {type(error).__name__}")
        return Top(now, problems, rows, server)

    async def _see(self) -> Seen:
        served = last_served(self._settings.state)
        if served is None or served.url is None or not is_served(self._settings.state):
            raise ScrapeError("no server of this state runs")
        if self._before is None:
            self._before = await scrape(served.url)
            await asyncio.sleep(_FIRST_SECONDS)
        found = await scrape(served.url)
        requests = requests_between(self._before, found)
        self._before = found
        return Seen(served.url, requests, _engines(found), _room(found))


async def _read(db: Queries, now: datetime, lease: float) -> Rows:
    counts = await count(db, now)
    failed = await count_failed(db, now - _LATELY)
    by_status = Counter[tuple[str, str]]()
    for each in await promised_by_status(db):
        by_status[each.region, each.status] += each.instances
    return Rows(
        await count_alive(db, lease),
        [Guests(*which, instances) for which, instances in sorted(by_status.items())],
        _jobs(counts, failed, now),
        await busiest(db, now - _LATELY, _ACCOUNTS),
        await health_queries.look(db),
    )


def _jobs(counts: list[Count], failed: dict[str, int], now: datetime) -> Jobs:
    def number(status: str) -> int:
        return sum(each.jobs for each in counts if each.status == status)

    queued = _age((each.oldest for each in counts if each.status == "queued"), now)
    begun = _age((each.begun for each in counts if each.status != "queued"), now)
    return Jobs(number("queued"), queued, number("running"), number("waiting"), begun, failed)


def _age(times: Iterable[datetime | None], now: datetime) -> float | None:
    known = [time for time in times if time is not None]
    return round(max((now - min(known)).total_seconds(), 0.0), 1) if known else None


def _engines(found: Scrape) -> list[EngineState]:
    states = (
        EngineState(
            each.labels["region"], each.labels["plane"], each.labels["engine"], bool(each.value)
        )
        for each in found.all("roost_engine_up")
    )
    return sorted(states, key=lambda each: (each.region, each.plane))


def _room(found: Scrape) -> list[Room]:
    """Memory first, then file systems."""
    return [*_rooms(found, MEMORY), *_rooms(found, "disk")]


def _rooms(found: Scrape, kind: str) -> Iterable[Room]:
    free = {
        frozenset(each.labels.items()): each.value
        for each in found.all(f"roost_host_{kind}_free_bytes")
    }
    for each in found.all(f"roost_host_{kind}_bytes"):
        what = each.labels.get("folder", kind)
        left = free.get(frozenset(each.labels.items()), 0)
        yield Room(each.labels["region"], what, int(left), int(each.value))
