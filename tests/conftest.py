"""Fixtures and rules of the whole test run."""

import gc
import os
from collections.abc import AsyncIterator, Generator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import structlog
from argon2 import PasswordHasher

from roost.settings import Settings
from roost.store import Store
from tests.cli.process import Server
from tests.golden.flaky import flaky_tests
from tests.support import database, former, transactions

# Machines that run tests may be busy: what takes long there is no fault.
hypothesis.settings.register_profile(
    "roost", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("roost")

_E2E = Path(__file__).parent / "e2e"
_ENGINES = ("browser", "ceph", "managed_postgresql", "mariadb", "powerdns", "qemu", "seaweedfs")
_FLAKY = flaky_tests()
_SHOWN = 8000
"""Characters of a log, the last."""


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        database.open_run()
        config.add_cleanup(database.close_run)


def pytest_report_header() -> str:
    return f"upgrades are tried from {former.described()}"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Modules and tests stay: to look for garbage among them takes half of the time of collecting
    them, and a tenth of that of running them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_itemcollected(item: pytest.Item) -> None:
    if item.path.is_relative_to(_E2E):
        item.add_marker("e2e")
    if _needs_engine(item) or item.get_closest_marker("e2e"):
        item.add_marker("real")
    for row in _FLAKY:
        if item.nodeid == row.test or item.nodeid.startswith(f"{row.test}["):
            item.add_marker(pytest.mark.xfail(reason=f"flaky: {row.cause}", strict=False))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins first: the whole ends sooner, and few guests run at a time."""
    items.sort(key=lambda item: item.get_closest_marker("e2e") is None)


def _needs_engine(item: pytest.Item) -> bool:
    return any(map(item.get_closest_marker, _ENGINES))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where everything must be there, an engine test that is skipped has failed."""
    report = yield
    strict = os.environ.get("CI") or os.environ.get("ROOST_TEST_NO_SKIP")
    skipped = report.skipped and not hasattr(report, "wasxfail")
    if strict and skipped and _needs_engine(item):
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be: {report.longreprtext}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """A test that fails shows what the processes that it started have logged."""
    try:
        return (yield)
    except Exception:
        for log in _logs(item):
            item.add_report_section("call", str(log), log.read_text(errors="replace")[-_SHOWN:])
        raise


def _logs(item: pytest.Item) -> Iterator[Path]:
    """Below the test's own folder, and that of a server that it shares with others."""
    values = getattr(item, "funcargs", {})
    folder, server = values.get("tmp_path"), values.get("server")
    if folder is not None:
        yield from (path for path in sorted(folder.rglob("*log")) if path.is_file())
    if isinstance(server, Server):
        yield server.log


@pytest.fixture(scope="session", autouse=True)
def watched_transactions() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        transactions.install(patch)
        yield


@pytest.fixture(autouse=True)
def quick_transactions(watched_transactions: None) -> Iterator[None]:
    """A test fails when what it has set off does slow work in a write's transaction."""
    transactions.violations.clear()
    yield
    assert transactions.violations == []


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> Iterator[None]:
    """A hash shall take a tenth of a second of all processors; a test of logins has many."""
    with pytest.MonkeyPatch.context() as patch:
        quick = partial(PasswordHasher, time_cost=1, memory_cost=8, parallelism=1)
        patch.setattr("roost.secrets.PasswordHasher", quick)
        yield


@pytest.fixture(scope="session", autouse=True)
def uncached_loggers() -> Iterator[None]:
    """A logger that a command of this process used first would miss the captures of later tests.

    What nobody captures is shown plainly: the coloured traceback with all local variables, which
    structlog has by default, takes seconds for each exception.
    """
    configure = structlog.configure
    *processors, _ = structlog.get_config()["processors"]
    plain = structlog.dev.ConsoleRenderer(
        colors=False, exception_formatter=structlog.dev.plain_traceback
    )
    configure(processors=[*processors, plain])

    def uncached(**settings: Any) -> None:
        configure(**settings | {"cache_logger_on_first_use": False})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(structlog, "configure", uncached)
        yield


@pytest.fixture(autouse=True)
def own_logs(uncached_loggers: None) -> Iterator[None]:
    """A command sets up logs for its whole process, which here has other tests to run."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


@pytest.fixture(scope="session")
async def database_server() -> AsyncIterator[database.DatabaseServer]:
    async with database.database_server() as server:
        yield server


@pytest.fixture
async def database_url(database_server: database.DatabaseServer) -> AsyncIterator[str]:
    """A database with all tables that this test has for itself."""
    async with database_server.database() as url:
        yield url


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    store = await Store.open(Settings(database_url=database_url))
    yield store
    await store.close()
