"""Lists of a large account: what a filter and a deep page cost, against the cheapest requests."""

import json
from collections.abc import AsyncIterator, Mapping
from itertools import cycle
from pathlib import Path
from statistics import median

from bench import load
from bench.database import Account, make_account, make_restricted, make_volumes
from bench.edge import roost_server
from bench.load import request
from bench.results import Result
from bench.statements import TAG
from roost.store import Store

_INSTANCES = 100_000
_ROUNDS = 15
_SECONDS = 0.1
_LIST = "/v4/compute/instances"
_TAGGED = "/v4/tags/web"
_VOLUMES = "/v4/volumes"


async def measure(store: Store, state: Path) -> AsyncIterator[Result]:
    account = await make_account(store, "large", _INSTANCES)
    small = await make_account(store, "small", 100)
    step = _INSTANCES // 50
    ones = [request("GET", f"{_LIST}/{n}", account.token) for n in account.instances[::step]]
    filters = [
        request("GET", _LIST, account.token, headers=[_filter(label=f"compute-{n}")])
        for n in range(1, _INSTANCES, step)
    ]
    restricted = await make_restricted(store, account, "restricted")
    granted = [request("GET", _LIST, restricted)]
    for each in (account, small):
        await store.execute(TAG, each.id)
    tagged = {n: [request("GET", f"{_TAGGED}?page={n}", account.token)] for n in (1, 500, 1000)}
    pages = {n: [request("GET", f"{_LIST}?page={n}", account.token)] for n in (1, 500, 1000)}
    with roost_server(state, store.dsn) as (_, port):
        took = await _take_turns(
            port,
            {
                "one": ones,
                "filter": filters,
                "1": pages[1],
                "500": pages[500],
                "1000": pages[1000],
                "granted": granted,
                "small": [request("GET", _LIST, small.token)],
                "small tagged": [request("GET", _TAGGED, small.token)],
                **{f"tagged {n}": sent for n, sent in tagged.items()},
            },
        )
    filtered, last, middle = took["filter"] / took["one"], took["1000"], took["500"]
    deep = max(took["tagged 500"], took["tagged 1000"])
    flat, tagged_flat = took["1"] / took["small"], took["tagged 1"] / took["small tagged"]
    yield Result("X-Filter on label, 100,000 rows: of GET one", filtered, "x", 3, note=_note(took))
    yield Result("page 1 of 100,000: of 100", flat, "x", 1.5)
    yield Result("page 1 of 100,000 tagged: of 100 tagged", tagged_flat, "x", 1.5)
    yield Result("last page of 100,000: of page 1", last / took["1"], "x", 10)
    yield Result("middle page of 100,000: of page 1", middle / took["1"], "x", 20)
    yield Result("half of 100,000 granted: of the whole list", took["granted"] / took["1"], "x", 2)
    yield Result("deep page of 100,000 tagged: of page 1", deep / took["tagged 1"], "x", 30)
    async for result in _measure_volumes(store, state, account):
        yield result


async def _measure_volumes(store: Store, state: Path, account: Account) -> AsyncIterator[Result]:
    volumes = await make_volumes(store, account, _INSTANCES)
    step = _INSTANCES // 50

    def filtered(field: str, prefix: str, numbers: range) -> list[bytes]:
        filters = [_filter(**{field: f"{prefix}-{n}"}) for n in numbers]
        return [request("GET", _VOLUMES, account.token, headers=[each]) for each in filters]

    ones = [request("GET", f"{_VOLUMES}/{n}", account.token) for n in volumes[::step]]
    sent = {
        "one": ones,
        "label": filtered("label", "volume", range(1, _INSTANCES, step)),
        "tags": filtered("tags", "tag", range(1, _INSTANCES // 5, step // 5)),
    }
    with roost_server(state, store.dsn) as (_, port):
        took = await _take_turns(port, sent)
    label, tags = (took[field] / took["one"] for field in ("label", "tags"))
    yield Result("X-Filter on label, 100,000 volumes: of GET one", label, "x", 3, note=_note(took))
    yield Result("X-Filter on tags, 100,000 volumes: of GET one", tags, "x", 10)


def _filter(**wanted: str) -> str:
    return "x-filter: " + json.dumps(wanted)


def _note(took: Mapping[str, float]) -> str:
    return "ms: " + ", ".join(f"{name} {seconds * 1000:.2f}" for name, seconds in took.items())


async def _take_turns(port: int, requests: Mapping[str, list[bytes]]) -> dict[str, float]:
    """The median seconds that an answer of each kind takes when one is asked for at a time."""
    took: dict[str, list[float]] = {name: [] for name in requests}
    for _ in range(_ROUNDS):
        for name, sent in requests.items():
            answers = await load.send(port, cycle(sent), _SECONDS, connections=1)
            # The first one connects; what takes as long as a turn has no other.
            took[name] += answers[1:] or answers
    return {name: median(seconds) for name, seconds in took.items()}
