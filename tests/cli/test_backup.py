"""`roost backup` beside a server, and `roost restore` into a state of its own."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from roost.app.backup.make import back_up
from roost.app.backup.restore import Choice, restore
from roost.engines.gateway.register import Register
from roost.engines.powerdns.backends import SqliteBackend
from roost.engines.powerdns.prerequisites import check
from roost.settings import Settings
from roost.store import migrate
from roost.store.cluster import Cluster
from roost.store.pool import connect
from tests.cli.process import Json, Server, end_all, ran, roost, wait_until
from tests.cli.test_ticket import attach, get, post
from tests.support import state_table
from tests.support.databases import DATABASES, database_body

_ROOST = Path(sys.executable).with_name("roost")

_WRITERS = 16
_EACH = 60
"""Rounds of a writer at most: the backup is done before."""

_DUMPS = "from pg_stat_activity where application_name = 'pg_dump'"

_OF_PROCESSES = ("worker", "identity_epoch", "identity_reader")
"""Tables that say who runs, not what is kept."""


@pytest.fixture
def states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """One to save and one to restore, whose servers take any number of requests."""
    monkeypatch.setenv("ROOST_RATE_LIMIT_SCALE", "0")
    states = tmp_path / "state", tmp_path / "restored"
    yield states
    for state in states:
        if state.exists():
            end_all(state)


def fill(server: Server, folder: Path) -> int:
    """A bit of everything that is kept in another place; returns the id of its instance."""
    compute_id = server.instance(label="first")
    post(server, DATABASES, database_body())
    wait_until(lambda: get(server, DATABASES)["data"][0]["status"] == "active")
    zone = {"domain": "example.org", "type": "master", "soa_email": "me@example.org"}
    domain = post(server, "/domains", zone)["id"]
    post(server, f"/domains/{domain}/records", {"type": "A", "name": "www", "target": "192.0.2.1"})
    assert server.send("PUT", f"/domains/{domain}", {"dnssec": True})[0] == 200
    wait_until(lambda: bool(get(server, f"/domains/{domain}/dnssec")["ds_records"]))
    ticket = post(server, "/support/tickets", {"summary": "Help", "description": "It is broken."})
    letter = folder / "letter.txt"
    letter.write_text(os.urandom(50_000).hex())
    attach(server, str(ticket["id"]), letter)
    return compute_id


def seen(server: Server) -> Json:
    """What a start does not change: zones with their keys, sealed secrets, tickets."""
    shown = {path: get(server, path)["data"] for path in ("/domains", "/support/tickets")}
    for row in shown["/domains"]:
        for part in ("records", "dnssec", "zone-file"):
            shown[f"{row['id']} {part}"] = get(server, f"/domains/{row['id']}/{part}")
    for row in get(server, DATABASES)["data"]:
        shown[f"{row['id']} credentials"] = get(server, f"{DATABASES}/{row['id']}/credentials")
    return shown


async def tables(state: Path) -> dict[str, list[Any]]:
    """Every row of every table, of a state whose database runs."""
    database = await connect(Cluster(state / "postgres").dsn())
    names = [
        name
        for (name,) in await database.fetch(
            "select tablename from pg_tables where schemaname = 'public'"
        )
        if name not in _OF_PROCESSES
    ]
    rows = {
        name: [row[0] for row in await database.fetch(f"select t::text from {name} t order by 1")]
        for name in names
    }
    await database.close()
    return rows


def stop(server: Server) -> None:
    server.process.terminate()
    assert server.process.wait() == 0


def read_tables(state: Path) -> dict[str, list[Any]]:
    """Of a state whose server is down."""

    async def read() -> dict[str, list[Any]]:
        cluster = Cluster(state / "postgres")
        await cluster.launch()
        try:
            return await tables(state)
        finally:
            await cluster.stop()

    return asyncio.run(read())


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("dns", ["simulated", pytest.param("powerdns", marks=pytest.mark.powerdns)])
def test_a_restored_cloud_is_the_one_that_was_saved(
    states: tuple[Path, Path], tmp_path: Path, dns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if dns == "powerdns" and (reason := check(SqliteBackend())):
        pytest.skip(reason)
    monkeypatch.setenv("ROOST_DNS_ENGINE", dns)
    (state, restored), backup = states, tmp_path / "cloud.backup"
    server = Server.start(state)
    compute_id = fill(server, tmp_path)
    before = seen(server)
    token = server.token
    register = _make_register(state)
    assert state_table.unnamed(state) == []
    stop(server)
    ran("tls", "--state", state)
    rows = read_tables(state)
    said = ran("backup", "--state", state, backup)
    assert (
        said == f"{backup}: {backup.stat().st_size} bytes, revision {migrate.head()}, 1 attachments"
    )
    assert backup.stat().st_mode & 0o777 == 0o600
    assert not (state / ".backup").exists()
    assert _members(backup) == {*state_table.saved(state), "database.dump", "manifest.json"}
    ran("down", "--state", state)
    lines = ran("restore", "--state", restored, backup).splitlines()
    assert lines == [
        f"restored; serve it with: roost serve --state {restored} --engines simulated",
        "fsck: clean",
    ]
    found = read_tables(restored)
    assert found.keys() == rows.keys()
    # Of hosts nobody has heard anything since.
    assert [name for name in rows if found[name] != rows[name]] == ["host"]
    for name in ("secret.key", "admin.token", "tls/ca.key", "tls/certificate.pem"):
        assert (restored / name).read_bytes() == (state / name).read_bytes()
    assert files(restored / "attachments") == files(state / "attachments")
    assert Register(restored / register).buckets["photos"].mark == "7-20300131"
    again = Server.start(restored)
    assert again.token == token
    wait_until(lambda: again.status(compute_id) == "running")
    assert seen(again) == before
    again.instance(label="second")
    assert ran("fsck", "--state", restored) == "fsck: clean"
    again.end()


def _make_register(state: Path) -> str:
    """As the gateway of a region keeps one; its path in the state."""
    path = state / "seaweedfs" / "us-lake" / "register.db"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    register = Register(path)
    asyncio.run(register.set_bucket("photos", "7-20300131", "private", cors=False, objects={}))
    register.close()
    return str(path.relative_to(state))


def _members(backup: Path) -> set[str]:
    with ZipFile(backup) as zipped:
        return set(zipped.namelist())


def statuses(server: Server) -> set[str]:
    return {row["status"] for row in get(server, "/compute/instances")["data"]}


@pytest.mark.e2e
def test_a_backup_while_others_write(states: tuple[Path, Path], tmp_path: Path) -> None:
    """It is one moment: all that was there before, and no thing without its other half."""
    (state, restored), backup = states, tmp_path / "cloud.backup"
    server = Server.start(state)
    fill(server, tmp_path)
    before = seen(server)
    stopped, numbers = threading.Event(), count()

    def write(_: int) -> int:
        made = 0
        while not stopped.is_set() and made < _EACH:
            number = next(numbers)
            letter = tmp_path / f"letter-{number}.txt"
            letter.write_text(os.urandom(5_000).hex())
            new = {"type": "g1-nano-1", "region": "us-lake", "label": f"guest{number}"}
            post(server, "/compute/instances", new)
            volume = {"label": f"volume{number}", "region": "us-lake", "size": 10}
            post(server, "/volumes", volume)
            zone = {"domain": f"z{number}.example", "type": "master", "soa_email": "me@example.org"}
            domain = post(server, "/domains", zone)["id"]
            post(server, f"/domains/{domain}/records", {"type": "TXT", "name": "", "target": "x"})
            text = {"summary": f"t{number}", "description": "It is broken."}
            attach(server, str(post(server, "/support/tickets", text)["id"]), letter)
            assert server.send("DELETE", f"/domains/{domain}")[0] == 200
            made += 1
        return made

    with ThreadPoolExecutor(_WRITERS) as writers:
        working = [writers.submit(write, each) for each in range(_WRITERS)]
        try:
            wait_until(
                lambda: (
                    get(server, "/compute/instances")["results"] > _WRITERS
                    or any(each.done() for each in working)
                )
            )
            during = [row["id"] for row in get(server, "/compute/instances")["data"]]
            ran("backup", "--state", state, backup)
            assert not any(each.done() for each in working)
        finally:
            stopped.set()
        assert all(each.result() for each in working)
    server.end()
    assert ran("restore", "--state", restored, backup).splitlines()[-1] == "fsck: clean"
    again = Server.start(restored)
    known = {row["id"] for row in get(again, "/compute/instances")["data"]}
    assert known >= set(during)
    after = seen(again)
    assert {key: after[key] for key in before if key[0] != "/"} == {
        key: shown for key, shown in before.items() if key[0] != "/"
    }
    wait_until(lambda: statuses(again) <= {"running", "offline"})
    assert ran("fsck", "--state", restored) == "fsck: clean"
    again.end()


def test_a_database_of_an_earlier_release(
    states: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is saved as it is, and brought to the newest tables when it is restored."""
    (state, restored), backup = states, tmp_path / "cloud.backup"
    Server.start(state).end()
    later = tmp_path / "9998_later.sql"
    later.write_text("create table later ();")
    earlier, known = migrate.head(), [*migrate.revisions(), later]
    monkeypatch.setattr(migrate, "revisions", lambda: known)
    made = asyncio.run(back_up(Settings(state=state), backup, None, print))
    assert made.revision == earlier
    asyncio.run(restore(Settings(state=restored), Choice("simulated", None), backup, print))
    assert read_tables(restored)["alembic_version"] == ["(9998)"]


def test_a_newer_database_is_not_saved(states: tuple[Path, Path], tmp_path: Path) -> None:
    state, backup = states[0], tmp_path / "cloud.backup"
    server = Server.start(state)

    async def renumber(revision: str) -> None:
        database = await connect(Cluster(state / "postgres").dsn())
        await database.execute("update alembic_version set version_num = $1", revision)
        await database.close()

    asyncio.run(renumber("9999"))
    refused = roost("backup", "--state", state, backup)
    assert (refused.returncode, backup.exists()) == (1, False)
    said = "Error: the database is at revision 9999, newer than this program, which knows"
    assert refused.stderr.startswith(said)
    asyncio.run(renumber(migrate.head()))
    server.end()


@pytest.mark.e2e
def test_what_lies_elsewhere(
    states: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key file and the catalogue of the settings."""
    (state, restored), backup = states, tmp_path / "cloud.backup"
    key, catalog = tmp_path / "cloud.key", tmp_path / "worldwide.toml"
    catalog.write_bytes(Path("examples/catalogs/worldwide.toml").read_bytes())
    monkeypatch.setenv("ROOST_KEY_FILE", str(key))
    Server.start(state, "--catalog", catalog).end()
    saved = key.read_bytes()
    ran("backup", "--state", state, backup)
    for path in (key, catalog):
        path.rename(path.with_suffix(".old"))
    command = (
        f"roost serve --state {restored} --engines simulated --catalog {restored}/catalog.toml"
    )
    lines = ran("restore", "--state", restored, backup).splitlines()
    assert lines == [f"restored; serve it with: {command}", "fsck: clean"]
    assert (key.read_bytes(), key.stat().st_mode & 0o777) == (saved, 0o600)
    assert not (restored / "secret.key").exists()


@pytest.mark.e2e
def test_a_restore_that_is_killed(
    server: Server, states: tuple[Path, Path], tmp_path: Path
) -> None:
    """Its database goes on without it; the next one begins anew."""
    backup, restored = tmp_path / "cloud.backup", states[1]
    ran("backup", "--state", server.state, backup)
    words = ("restore", "--state", restored, backup)
    process = subprocess.Popen([_ROOST, *words], stderr=subprocess.DEVNULL)
    draft = Cluster(restored / ".restoring" / "postgres")
    wait_until(lambda: draft.postmaster() is not None)
    process.kill()
    process.wait()
    assert [path.name for path in restored.iterdir() if path.name != "serve.json"] == [".restoring"]
    assert ran("restore", "--state", restored, backup).startswith("restored; serve it with: ")
    assert draft.postmaster() is None
    assert not (restored / ".restoring").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL, None])
def test_a_backup_that_is_ended_leaves_no_file(
    server: Server, tmp_path: Path, number: signal.Signals | None
) -> None:
    """pg_dump waits for a table, or loses its connection; the next takes up what was left."""
    backup = tmp_path / "cloud.backup"
    part = tmp_path / ".cloud.backup.part"

    async def kill() -> None:
        database = await connect(Cluster(server.state / "postgres").dsn())
        async with database.transaction():
            await database.execute("lock table stackscript in access exclusive mode")
            process = await asyncio.create_subprocess_exec(
                *(_ROOST, "backup", "--state", server.state, backup),
                stderr=subprocess.PIPE,
                # Tests that run in the background of a shell ignore SIGINT, and so would it.
                preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
            )
            other = await connect(Cluster(server.state / "postgres").dsn())
            while not await other.fetchval(
                f"select count(*) {_DUMPS} and wait_event_type = 'Lock'"
            ):
                assert process.returncode is None
            assert part.exists()
            second = await asyncio.to_thread(
                roost, "backup", "--state", server.state, tmp_path / "second"
            )
            assert (second.returncode, second.stderr.splitlines()[-1]) == (
                1,
                "Error: another backup of this state is being made",
            )
            if number is None:
                await other.execute(f"select pg_terminate_backend(pid) {_DUMPS}")
            else:
                process.send_signal(number)
            _, said = await process.communicate()
            if number is None:
                assert b"Exception" not in said
                assert said.splitlines()[-1].startswith(b"Error: pg_dump: error: ")
            assert process.returncode != 0
            await other.close()
            assert part.exists() == (number == signal.SIGKILL)
        await database.close()

    asyncio.run(kill())
    assert not backup.exists()
    ran("backup", "--state", server.state, backup)
    assert not part.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == [backup.name]
    assert server.send("GET", "/regions")[0] == 200
