"""The former version and this one on one database, while the tables are changed under requests."""

import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from threading import Event

import pytest

from roost.store import migrate
from roost.store.pool import connect
from tests.cli.process import ROOST, Json, Server, roost, wait_until
from tests.engines.harness import until
from tests.support.database import DatabaseServer
from tests.support.former import has_history, install_former

pytestmark = pytest.mark.skipif(not has_history(), reason="the checkout has no history")

_CALLERS = 2

_REVISION = "select version_num from alembic_version"
_UNFINISHED = """
    select count(*) from job where schedule is null and status in ('queued', 'running', 'waiting')
"""


@pytest.fixture
async def empty_url(database_server: DatabaseServer) -> AsyncIterator[str]:
    async with database_server.database("template0") as url:
        yield url


@pytest.fixture
def former(tmp_path: Path, empty_url: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Its program; it and all others of the test use one empty database and one key."""
    monkeypatch.setenv("DATABASE_URL", empty_url)
    monkeypatch.setenv("ROOST_KEY_FILE", str(tmp_path / "key"))
    monkeypatch.setenv("ROOST_RATE_LIMIT_SCALE", "0")
    monkeypatch.setenv("ROOST_JOB_LEASE", "2")
    monkeypatch.setenv("ROOST_SIMULATED_LATENCY", "0")
    return install_former(tmp_path / "former")


@contextmanager
def worker(state: Path, program: Path) -> Iterator[None]:
    """Runs until the end of the block, and ends then by itself."""
    with state.with_suffix(".worker.log").open("a") as log:
        process = subprocess.Popen(
            [program, "worker", "--state", state, "--engines", "simulated"],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    assert process.stdout is not None
    try:
        assert any(line.startswith("roost worker ready") for line in process.stdout)
        yield
    finally:
        process.terminate()
        code = process.wait(timeout=60)
        process.stdout.close()
    assert code == 0


@contextmanager
def server(state: Path, program: Path) -> Iterator[Server]:
    """The same. It starts nothing that would outlive it."""
    started = Server.start(state, "--no-worker", program=program)
    process = started.process
    assert process.stdout is not None
    try:
        yield started
    finally:
        process.terminate()
        code = process.wait(timeout=60)
        process.stdout.close()
    assert code == 0


class Caller:
    """Makes, changes and deletes things, round after round; nothing may be refused."""

    def __init__(self, server: Server, token: str, name: str) -> None:
        self._server = server
        self._token = token
        self._name = name
        self.rounds = 0
        self.kept: list[int] = []
        """Instances that it has left, of the last round."""

    def go(self, stop: Event) -> None:
        while not stop.is_set():
            self._go_round(f"{self._name}-{self.rounds}")
            self.rounds += 1

    def _go_round(self, label: str) -> None:
        body = {"type": "g1-nano-1", "region": "us-lake", "label": label, "tags": [label]}
        compute_id = self._send("POST", "/compute/instances", body)["id"]
        volume = {"label": label, "size": 10, "region": "us-lake"}
        path = f"/volumes/{self._send('POST', '/volumes', volume)['id']}"
        wait_until(lambda: bool(self._send("GET", path)["status"] == "active"))
        self._send("DELETE", path)
        self._send("PUT", f"/compute/instances/{compute_id}", {"label": f"{label}-more"})
        self._send("GET", "/account/events")
        for each in self.kept:
            self._send("DELETE", f"/compute/instances/{each}")
        self.kept = [compute_id]

    def _send(self, method: str, path: str, body: Json = None) -> Json:
        status, answer = self._server.send(method, path, body, self._token)
        assert status == 200, (method, path, answer)
        return answer


@contextmanager
def asked(server: Server, token: str, name: str) -> Iterator[Callable[[int], list[int]]]:
    """Callers ask until the end of the block.

    Gives what waits until each has gone some more rounds, and returns what they have left.
    """
    callers = [Caller(server, token, f"{name}{number}") for number in range(_CALLERS)]
    stop = Event()

    def go_on(rounds: int) -> list[int]:
        wanted = [caller.rounds + rounds for caller in callers]
        wait_until(
            lambda: (
                any(each.done() for each in asking)
                or all(caller.rounds >= most for caller, most in zip(callers, wanted, strict=True))
            )
        )
        return [compute_id for caller in callers for compute_id in caller.kept]

    with ThreadPoolExecutor(_CALLERS) as threads:
        asking = [threads.submit(caller.go, stop) for caller in callers]
        try:
            yield go_on
        finally:
            stop.set()
            for each in asking:
                each.result()


async def fetch(url: str, query: str) -> Json:
    """One value."""
    connection = await connect(url)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


@pytest.mark.e2e
async def test_nothing_is_refused_meanwhile(former: Path, empty_url: str, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    with server(first, former) as old, ExitStack() as newer:
        before = await fetch(empty_url, _REVISION)
        second.mkdir()
        # One simulated data plane.
        (second / "simulated").symlink_to(first / "simulated")
        with worker(first, former), asked(old, old.token, "old") as go_on:
            go_on(1)
            newer.enter_context(worker(second, ROOST))
            new = newer.enter_context(server(second, ROOST))
            with asked(new, old.token, "new") as go_on_too:
                go_on(1)
                go_on_too(1)
        assert before <= await fetch(empty_url, _REVISION) == migrate.head()
        await until(partial(fetch, empty_url, _UNFINISHED), lambda jobs: jobs == 0)
        shown = [each.send("GET", "/compute/instances", token=old.token) for each in (old, new)]
        assert shown[0] == shown[1]
        assert shown[0][1]["results"] == 2 * _CALLERS
    done = roost("fsck", "--state", second)
    assert (done.returncode, done.stdout) == (0, "fsck: clean\n")
