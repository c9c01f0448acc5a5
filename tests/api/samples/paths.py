"""What it takes to call any endpoint with success, from the tables beside this module.

Each group has a module here with its SAMPLES. An operation's path names things; the sample of each
is that of the operation which shows it. Tests over all endpoints fail while one is missing.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterable
from itertools import chain

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.web.registry import Endpoint, Registry
from tests.api import samples
from tests.api.conftest import Account
from tests.api.samples.child_accounts import make_child
from tests.api.samples.sample import Maker, Sample, Samples, Value
from tests.support.client import Client

_PARAMETER = re.compile(r"\{[^}]*\}")
_SHOWING = {e.path: e for e in Registry(GROUPS.endpoints) if e.method == "GET"}


def _tables() -> list[Samples]:
    names = [f"{samples.__name__}.{each.name}" for each in pkgutil.iter_modules(samples.__path__)]
    tables = [vars(importlib.import_module(name)).get("SAMPLES") for name in names]
    return [table for table in tables if isinstance(table, Samples)]


_TABLES = _tables()
SHOWN: dict[str, Sample] = dict(chain.from_iterable(t.shown.items() for t in _TABLES))
_VALUES: dict[str, Sample] = dict(chain.from_iterable(t.values.items() for t in _TABLES))
_ROWS: dict[str, Maker] = dict(chain.from_iterable(t.rows.items() for t in _TABLES))
_QUERIES: dict[str, str] = dict(chain.from_iterable(t.queries.items() for t in _TABLES))


def keys() -> list[str]:
    """Of all groups' tables; one that is there twice hides another's."""
    return [key for table in _TABLES for key in (*table.shown, *table.rows, *table.queries)]


def _things(endpoint: Endpoint) -> list[str]:
    """The paths of what its path names, the outer one first."""
    return [endpoint.path[: found.end()] for found in _PARAMETER.finditer(endpoint.path)]


def _sample(path: str) -> Sample | None:
    """Of what the path ends with."""
    name = _PARAMETER.findall(path)[-1].strip("{}").partition(":")[0]
    shown = _SHOWING.get(path)
    return _VALUES.get(name) or (SHOWN.get(shown.name) if shown else None)


def lacking(endpoint: Endpoint) -> list[str]:
    """What of its path has no operation that shows it, or that operation no sample."""
    return [path for path in _things(endpoint) if _sample(path) is None]


def samples_of(endpoint: Endpoint) -> list[Sample]:
    """Of the things that its path names, the outer one first."""
    assert not lacking(endpoint), f"add samples of {lacking(endpoint)} to tests/api/samples"
    return [sample for path in _things(endpoint) if (sample := _sample(path)) is not None]


async def make_sample(
    endpoint: Endpoint, client: Client, roost: Roost, account: Account
) -> list[Value]:
    """The ids of what its path names."""
    values: list[Value] = []
    for sample in samples_of(endpoint):
        values.append(await sample.make(client, roost, account, _parent(endpoint, values)))
    return values


def _parent(endpoint: Endpoint, values: list[Value]) -> str:
    """The path of the last thing that is known by now."""
    return _filled(_things(endpoint)[len(values) - 1], values) if values else ""


async def sample_path(endpoint: Endpoint, client: Client, roost: Roost, account: Account) -> str:
    """The endpoint's path to things that exist."""
    return fill(endpoint, await make_sample(endpoint, client, roost, account))


def missing_path(endpoint: Endpoint) -> str:
    """The endpoint's path to things that do not exist."""
    return fill(endpoint, [sample.missing for sample in samples_of(endpoint)])


def fill(endpoint: Endpoint, values: Iterable[Value]) -> str:
    return _filled(endpoint.path, values)


def _filled(path: str, values: Iterable[Value]) -> str:
    left = iter(values)
    return _PARAMETER.sub(lambda _: str(next(left)), path)


def sample_query(endpoint: Endpoint) -> str:
    """A query that the endpoint answers; empty where it needs none."""
    asked = not endpoint.query or endpoint.name in _QUERIES
    assert asked, f"add a query of {endpoint.name} to tests/api/samples"
    return _QUERIES.get(endpoint.name, "")


async def make_row(
    listed: Endpoint, path: str, client: Client, roost: Roost, account: Account
) -> None:
    """A row of the list at that path; one that shows a thing of its own has been made with rows."""
    if listed.name not in SHOWN:
        await _row_maker(listed)(client, roost, account, path.rpartition("/")[0])


def _row_maker(listed: Endpoint) -> Maker:
    """The list's own, or that of the operation that shows one row."""
    own = _ROWS.get(listed.name)
    if own is not None:
        return own
    for path, shown in _SHOWING.items():
        parent, _, last = path.rpartition("/")
        if parent == listed.path and last.startswith("{"):
            return samples_of(shown)[-1].make
    raise AssertionError(f"add a row of {listed.name} to tests/api/samples")


async def become_welcome(
    endpoint: Endpoint, client: Client, roost: Roost, account: Account
) -> None:
    """Make the caller a parent where users of other accounts are refused."""
    if "default" in endpoint.refuses:
        assert "parent" not in endpoint.refuses, f"who may call {endpoint.name}?"
        await make_child(client, roost, account, "")
