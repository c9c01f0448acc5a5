"""One server for a state, and `roost down`."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from roost.app.served import last_served
from roost.clock import Clock
from roost.engines.simulated.instances import SimulatedInstances
from roost.store.cluster import Cluster
from roost.store.pool import connect
from tests.cli.process import Server, end_all, ran, roost, wait_until

_STOPS = 2
"""However many there are, none is a crash: tests/api/test_power_watch.py counts them."""


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    state = tmp_path / "state"
    yield state
    if state.exists():
        end_all(state)


def guests(state: Path, region: str = "us-lake") -> list[str]:
    """What the simulated data plane knows of its guests."""
    with closing(sqlite3.connect(state / "simulated" / region / "state.sqlite3")) as db:
        return [body for (body,) in db.execute("select body from document where kind = 'guest'")]


def crash(state: Path, compute_id: int) -> None:
    """Let a guest of the simulated data plane die without a word."""

    async def die() -> None:
        engine = SimulatedInstances(state / "simulated" / "us-lake", 0, Clock())
        await engine.crash(compute_id)
        await engine.close()

    asyncio.run(die())


def reboots(server: Server, compute_id: int) -> list[str]:
    """Actions of the events of its boots that nobody asked for, the latest first."""
    events = server.send("GET", "/account/events")[1]["data"]
    return [
        event["action"]
        for event in events
        if event["entity"]["id"] == compute_id and event["action"].endswith("_reboot")
    ]


def is_running(server: Server, compute_id: int) -> bool:
    """As its row says: what has booted it is over, and will not go on at the next start."""
    return server.status(compute_id) == "running"


def runs(guest: str) -> bool:
    return '"started":null' not in guest


def test_second_server_is_refused(server: Server) -> None:
    second = roost("serve", "--state", server.state, "--listen", "127.0.0.1:0")
    assert second.returncode == 1
    assert f"{server.state} is being served already" in second.stderr
    assert server.send("GET", "/regions")[0] == 200


def test_down_stops_everything_and_the_next_start_boots_again(state: Path) -> None:
    server = Server.start(state)
    compute_id = server.instance()
    assert [runs(guest) for guest in guests(state)] == [True]
    lines = ran("down", "--state", state).splitlines()
    assert lines[0] == "stopped the server"
    assert sorted(lines[1:]) == [
        f"region {region}: all guests are off" for region in ("br-south", "local", "us-lake")
    ]
    assert server.process.wait() == 0
    assert [runs(guest) for guest in guests(state)] == [False]
    assert Cluster(state / "postgres").postmaster() is None
    server = Server.start(state)
    assert server.status(compute_id) in ("running", "booting")
    wait_until(lambda: [runs(guest) for guest in guests(state)] == [True])
    wait_until(lambda: server.status(compute_id) == "running")
    server.end()


@pytest.mark.e2e
def test_down_after_a_crash(state: Path) -> None:
    """The server was killed: its database and its guests go on without it."""
    server = Server.start(state)
    compute_id = server.instance()
    server.process.kill()
    server.process.wait()
    assert Cluster(state / "postgres").postmaster() is not None
    lines = ran("down", "--state", state).splitlines()
    assert lines[0] == "no server was running"
    assert lines[-1] == "stopped the database"
    assert [runs(guest) for guest in guests(state)] == [False]
    assert Cluster(state / "postgres").postmaster() is None
    assert ran("fsck", "--state", state) == "fsck: clean"
    assert ran("fsck", "--state", state, "--repair") == "fsck: clean"
    assert Cluster(state / "postgres").postmaster() is None
    server = Server.start(state)
    wait_until(lambda: server.status(compute_id) == "running")
    server.end()


@pytest.mark.e2e
def test_what_a_guest_did_before_down_is_found(state: Path) -> None:
    """A guest that died while nobody served is none that `down` stopped; the repair boots it."""
    server = Server.start(state)
    compute_id = server.instance()
    server.process.terminate()
    server.process.wait()
    crash(state, compute_id)
    ran("down", "--state", state)
    text = f"instance {compute_id} of region us-lake is running, but its guest is offline"
    found = roost("fsck", "--state", state)
    assert (found.returncode, found.stdout.splitlines()[0]) == (1, text)
    assert ran("fsck", "--state", state, "--repair").splitlines() == [
        f"{text}; it is booted again",
        "fsck: 1 found and repaired",
    ]
    assert ran("fsck", "--state", state) == "fsck: clean"
    server = Server.start(state)
    wait_until(lambda: server.status(compute_id) == "running")
    assert [runs(guest) for guest in guests(state)] == [True]
    assert reboots(server, compute_id) == ["lassie_reboot"]
    server.end()


@pytest.mark.e2e
def test_planned_stops_are_no_crashes(state: Path) -> None:
    server = Server.start(state)
    compute_id = server.instance()
    for _ in range(_STOPS):
        ran("down", "--state", state)
        assert server.process.wait() == 0
        assert [runs(guest) for guest in guests(state)] == [False]
        server = Server.start(state)
        wait_until(lambda: [runs(guest) for guest in guests(state)] == [True])
        wait_until(partial(is_running, server, compute_id))
    assert reboots(server, compute_id) == ["host_reboot"] * _STOPS
    server.end()


@pytest.mark.e2e
async def test_a_region_whose_instances_are_on_another_engine(state: Path) -> None:
    """No command takes it up with an engine that does not have them."""
    server = await asyncio.to_thread(Server.start, state)
    await asyncio.to_thread(server.instance)
    database = await connect(Cluster(state / "postgres").dsn())
    assert await database.fetchval("select engine from compute_instance") == "simulated"
    await database.execute("update compute_instance set engine = 'qemu'")
    reason = "has instances on the engine qemu, but would now get the engine simulated"
    for command in ("down", "fsck"):
        refused = await asyncio.to_thread(roost, command, "--state", state)
        assert refused.returncode == 1
        assert reason in refused.stderr
    assert [runs(guest) for guest in guests(state)] == [True]
    assert server.process.poll() is None
    await database.execute("update compute_instance set engine = 'simulated'")
    await database.close()
    assert (await asyncio.to_thread(roost, "down", "--state", state)).returncode == 0
    assert server.process.wait() == 0


def test_a_server_that_is_refused_does_not_decide_for_others(state: Path, tmp_path: Path) -> None:
    """`down` goes by the catalogue of the last one that served."""
    server = Server.start(state)
    server.process.terminate()
    server.process.wait()
    nothing = tmp_path / "nothing.toml"
    nothing.write_text("regions = []\n")
    refused = roost("serve", "--state", state, "--catalog", nothing, "--listen", "127.0.0.1:0")
    assert refused.returncode == 1
    served = last_served(state)
    assert served is not None
    assert (served.engines, served.catalog) == ("simulated", None)


@pytest.mark.e2e
def test_down_knows_the_catalogue_that_was_served(state: Path, tmp_path: Path) -> None:
    """Its regions are the ones whose guests are stopped."""
    catalog = tmp_path / "worldwide.toml"
    catalog.write_bytes(Path("examples/catalogs/worldwide.toml").read_bytes())
    server = Server.start(state, "--catalog", catalog)
    regions = {row["id"] for row in server.send("GET", "/regions")[1]["data"]}
    lines = ran("down", "--state", state).splitlines()
    assert server.process.wait() == 0
    assert set(lines[1:]) == {f"region {region}: all guests are off" for region in regions}


@pytest.mark.e2e
def test_guests_are_ended_where_the_database_does_not_answer(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that is cut off: what runs is known from its folder."""
    server = Server.start(state)
    server.instance()
    assert any(map(runs, guests(state)))
    monkeypatch.setenv("DATABASE_URL", "postgresql://me:secret@127.0.0.1:1/roost")
    done = roost("down", "--state", state)
    assert (done.returncode, done.stderr) == (0, "")
    assert "the database does not answer" in done.stdout.splitlines()[0]
    assert "region us-lake: all guests are off" in done.stdout
    assert "secret" not in done.stdout
    assert guests(state)
    assert not any(map(runs, guests(state)))
    monkeypatch.delenv("DATABASE_URL")
