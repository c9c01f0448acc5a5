"""The lab over HTTP: the whole state reset, saved and loaded."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path
from zipfile import ZipFile

import pytest

from roost.app.fsck import check_all
from roost.clock import Clock
from roost.core.planes import Binding, E_co
from roost.resources.billing.service import differences
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.suspension.service import suspend
from roost.store import Store, migrate
from tests.support.client import Json, until
from tests.support.database import DatabaseServer
from tests.support.disks import quiet
from tests.support.forms import FormPart, form
from tests.support.lab import INSTANCE, Lab, running_lab
from tests.support.volumes import plugged, rested, volume_engine

BROKEN = (400, [{"reason": "This is not a saved state, or it is broken"}])


@pytest.fixture
async def lab(tmp_path: Path, database_url: str) -> AsyncIterator[Lab]:
    async with running_lab(tmp_path, database_url) as lab:
        yield lab


async def guests(lab: Lab) -> list[int]:
    """What the engines hold."""
    engines = lab.running.roost.engines.by_region(INSTANCE_PLANE).values()
    states = [await engine.list() for engine in engines]
    return sorted(state.id for region in states for state in region)


async def contents(store: Store) -> dict[str, int]:
    """Rows of each table that has any."""
    names = await store.fetch(
        "select tablename from pg_tables where schemaname = current_schema() order by 1"
    )
    counts = {name: await store.fetchval(f'select count(*) from "{name}"') for (name,) in names}
    return {name: count for name, count in counts.items() if count}


def rewritten(state: bytes, name: str, change: Callable[[bytes], bytes | None]) -> bytes:
    """The state with another content of an entry, or without it."""
    result = io.BytesIO()
    with ZipFile(io.BytesIO(state)) as old, ZipFile(result, "w") as new:
        for entry in old.namelist():
            content: bytes | None = old.read(entry)
            if entry == name and content is not None:
                content = change(content)
            if content is not None:
                new.writestr(entry, content)
    return result.getvalue()


def with_header(state: bytes, change: Callable[[Json], object]) -> bytes:
    """The state with a header that `change` has altered."""

    def alter(content: bytes) -> bytes:
        header = json.loads(content)
        change(header)
        return json.dumps(header).encode()

    return rewritten(state, "roost.json", alter)


async def test_reset_leaves_a_fresh_roost(lab: Lab) -> None:
    store = lab.running.roost.store
    fresh, regions = await contents(store), await lab.lists()
    first = await lab.api.post("/compute/instances", {**INSTANCE, "private_ip": True})
    await lab.settled(first["id"])
    await lab.create()
    await lab.post("/faults/engines", {"region": "local", "operation": "stop"})
    await lab.post("/faults/jobs", {"kind": "compute_boot", "step": "start", "times": 3})
    await lab.put("/latency", {"seconds": 7})
    await lab.put("/clock", {"advance": 3600})

    assert (await lab.post("/reset"))["offset_seconds"] == 0

    assert await lab.lists() == regions
    assert await guests(lab) == []
    assert await lab.get("/faults") == {"engines": [], "jobs": []}
    assert not any(row["seconds"] for row in (await lab.get("/latency"))["latency"])
    ephemeral = {"job", "job_schedule", "worker", "token_use", "login", "reverse_zone"}
    ephemeral |= {"database_zone", "region_capacity"}  # Jobs of each minute fill them again.
    left = await contents(store)
    assert {k: v for k, v in left.items() if k not in ephemeral} == {
        k: v for k, v in fresh.items() if k not in ephemeral
    }
    again = await lab.api.post("/compute/instances", {**INSTANCE, "private_ip": True})
    assert (again["id"], again["ipv4"]) == (100000, first["ipv4"])
    await lab.settled(again["id"])


async def kept_rows(store: Store, table: str) -> list[Json]:
    """Of a table that a reset does not empty; the request for it is a login of its own."""
    texts = await store.fetch(f"select (to_jsonb(t) - $1::text[])::text from {table} t", _OF_USE)
    return [json.loads(text) for (text,) in texts]


_OF_USE = ["last_login", "last_login_status", "last_used"]


async def test_reset_leaves_accounts_as_if_nothing_had_been_done(lab: Lab) -> None:
    """Months of billing, a debt, a suspension, settings, logins: no column tells of them."""
    roost, store = lab.running.roost, lab.running.roost.store
    before = [await kept_rows(store, name) for name in ("account", "api_user", "token")]
    await lab.api.put("/account/settings", {"network_helper": False, "backups_enabled": True})
    await lab.api.post("/object-storage/keys", {"label": "k"})
    await lab.settled(await lab.create())
    await lab.put("/clock", {"advance": 70 * 86400})
    await until(lambda: store.fetchval("select balance from account"), lambda usd: usd > 0)
    async with store.transaction() as db:
        now = roost.clock.seconds()
        account_id = await db.fetchval("select id from account")
        await suspend(db, account_id, "operator", "owes", now)
        await db.execute(
            "update account set charge_tries = 3, charge_again = $1, card_last_four = '4242'", now
        )
        await db.execute(
            "update api_user set last_login = $1, last_login_status = 'failed', tfa_counter = 9",
            now,
        )
    await lab.post("/reset")
    assert await store.fetchval("select last_login_status from api_user") != "failed"
    after = [await kept_rows(store, name) for name in ("account", "api_user", "token")]
    assert after == before
    account = await lab.api.get("/account")
    assert (account["balance"], account["balance_uninvoiced"]) == (0, 0)
    assert (await lab.api.get("/account/notifications"))["results"] == 0
    assert [each async for each in differences(store)] == []
    told: list[str] = []
    await check_all(roost, False, told.append)
    assert told == []


async def test_what_was_made_in_a_time_that_is_skipped_is_made_now(lab: Lab) -> None:
    store = lab.running.roost.store
    await lab.put("/clock", {"advance": 400 * 86400})
    body = {"username": "late", "email": "late@example.com", "restricted": False}
    await lab.api.post("/account/users", body)
    await lab.post("/reset")
    latest = await store.fetchval("select max(created) from api_user")
    assert latest <= Clock().now()


async def test_reset_under_load(tmp_path: Path, database_url: str) -> None:
    """Whatever requests and jobs are at, nothing of before is left afterwards."""
    async with running_lab(tmp_path, database_url, simulated_latency=0.05) as lab:
        for _ in range(2):
            creating = [asyncio.create_task(lab.create()) for _ in range(12)]
            store = lab.running.roost.store
            begun = partial(store.fetchval, "select exists (select from compute_instance)")
            await until(begun, bool)
            await lab.post("/reset")
            await asyncio.gather(*creating)
            await lab.post("/reset")
            assert await guests(lab) == []
            store = lab.running.roost.store
            assert await store.fetchval("select count(*) from compute_instance") == 0
            created = await lab.create()
            assert created == 100000
            await lab.settled(created)


async def test_resets_in_quick_succession(lab: Lab) -> None:
    for _ in range(10):
        await lab.post("/reset")
    await lab.settled(await lab.create())


async def test_reset_interrupts_slow_steps(tmp_path: Path, database_url: str) -> None:
    async with running_lab(tmp_path, database_url, simulated_latency=60) as lab:
        await lab.create()
        await until(lambda: guests(lab), bool)
        await lab.post("/reset")
        assert await guests(lab) == []


async def test_a_state_comes_back(tmp_path: Path, database_url: str) -> None:
    async with running_lab(tmp_path, database_url) as lab:
        await lab.settled(await lab.create(tags=["tag ä", "tag \\b", 'tag "c"'], label="first"))
        await lab.put("/latency", {"region": "local", "operation": "stop", "seconds": 0.5})
        await lab.put("/clock", {"now": "2100-01-01T00:00:00"})
        before, held, latency = await lab.lists(), await guests(lab), await lab.get("/latency")
        state = await lab.save()
        for _ in range(2):
            await lab.settled(await lab.create())
        await lab.api.delete("/compute/instances/100000")
        await lab.put("/latency", {"seconds": 0})
        await lab.put("/clock", {"now": "2200-01-01T00:00:00"})
        await lab.post("/load", state)
        assert (await lab.get("/clock"))["now"].startswith("2100-01-01T00:00")
        assert (await lab.lists(), await guests(lab)) == (before, held)
        assert await lab.get("/latency") == latency
    async with running_lab(tmp_path, database_url) as lab:
        assert (await lab.lists(), await guests(lab)) == (before, held)
        await lab.post("/reset")
        await lab.post("/load", state)
        assert (await lab.lists(), await guests(lab)) == (before, held)
        created = await lab.create()
        assert created == 100001
        await lab.settled(created)
        await lab.api.post("/compute/instances/100000/reboot")
        await lab.settled(100000)


async def test_block_storage_comes_back(lab: Lab) -> None:
    """Disks, configs, backups and volumes, with what is on them."""
    created = await lab.create(backups_enabled=True)
    await lab.settled(created)
    path, volumes = f"/compute/instances/{created}", volume_engine(lab.running.roost, "local")
    volume = await lab.api.post("/volumes", {"label": "data", "compute_id": created})
    await rested(lab.api, volume["id"])
    await volumes.write(volume["id"], "precious")
    await lab.api.post(f"{path}/backups", {"label": "first"})
    await quiet(lab.api, path)
    names = ("configs", "disks", "volumes", "backups")
    before = [await lab.api.get(f"{path}/{name}") for name in names]
    state = await lab.save()

    await lab.post("/reset")
    assert await volumes.list() == []
    assert (await lab.api.get("/volumes"))["results"] == 0

    await lab.post("/load", state)
    assert [await lab.api.get(f"{path}/{name}") for name in names] == before
    assert await volumes.read(volume["id"]) == "precious"
    assert await plugged(lab.running.roost, volume["id"], "local") == created
    lines: list[str] = []
    await check_all(lab.running.roost, False, lines.append)
    assert lines == []
    again = await lab.api.post("/volumes", {"label": "more", "region": "local"})
    assert again["id"] == volume["id"] + 1
    await rested(lab.api, again["id"])


async def test_a_state_moves_to_another_database(
    tmp_path: Path, database_server: DatabaseServer
) -> None:
    """With the key file; tokens are then those of the state."""
    async with database_server.database() as url, running_lab(tmp_path / "one", url) as lab:
        await lab.settled(await lab.create())
        state, lists, token = await lab.save(), await lab.lists(), lab.running.token
    key = tmp_path / "one" / "secret.key"
    async with (
        database_server.database() as url,
        running_lab(tmp_path / "two", url, key_file=key) as other,
    ):
        await other.post("/load", state)
        assert (await other.send("GET", "/clock"))[0] == 401
        other.api.token = token
        assert await other.lists() == lists
        await other.api.post("/compute/instances/100000/reboot")
        await other.settled(100000)


async def test_jobs_go_on_after_a_load(tmp_path: Path, database_url: str) -> None:
    async with running_lab(tmp_path, database_url, simulated_latency=0.25) as lab:
        created = await lab.create()
        state = await lab.save()
        await lab.settled(created)
        await lab.post("/load", state)
        row = await lab.api.get(f"/compute/instances/{created}")
        assert row["status"] in ("provisioning", "offline", "booting")
        await lab.settled(created)
        assert await guests(lab) == [created]


def damaged(state: bytes) -> Iterator[bytes]:
    """What is not a saved state, or not a whole one."""
    yield b""
    yield b"nonsense"
    empty = io.BytesIO()
    ZipFile(empty, "w").close()
    yield empty.getvalue()
    yield state[:-100]
    flipped = bytearray(state)
    flipped[state.index(b"tables/job.copy") + 60] ^= 255
    yield bytes(flipped)
    yield with_header(state, lambda header: header.pop("format"))
    yield with_header(state, lambda header: header["next_ids"].clear())
    yield with_header(state, lambda header: header["tables"].extend(header["tables"]))
    yield rewritten(state, "tables/event.copy", lambda _: None)
    yield rewritten(state, "tables/event.copy", lambda rows: rows + b"1\n")
    yield rewritten(state, "tables/account.copy", lambda _: b"")
    last = json.loads(ZipFile(io.BytesIO(state)).read("roost.json"))["regions"][-1]
    yield rewritten(state, f"engines/{last}.json", lambda _: None)
    yield rewritten(state, f"engines/{last}.json", lambda _: b"{")


async def test_what_cannot_be_loaded_changes_nothing(
    tmp_path: Path, database_url: str, database_server: DatabaseServer
) -> None:
    async with database_server.database() as url, running_lab(tmp_path / "other", url) as other:
        foreign = await other.save()

    async with running_lab(tmp_path / "own", database_url) as lab:
        empty = await lab.save()
        await lab.settled(await lab.create())
        before = await lab.lists(), await guests(lab), await lab.get("/latency")
        for state in damaged(empty):
            assert await lab.refused("POST", "/load", state) == BROKEN
        reasons = {
            foreign: "The secrets in the state are sealed with another key file",
            with_header(empty, lambda header: header.update(revision="0001")): (
                f"The state was saved with schema 0001; this program has {migrate.head()}"
            ),
            with_header(empty, lambda header: header["regions"].append("mars")): (
                "The state needs regions that are not here: mars"
            ),
        }
        for state, reason in reasons.items():
            assert await lab.refused("POST", "/load", state) == (400, [{"reason": reason}])
        assert (await lab.lists(), await guests(lab), await lab.get("/latency")) == before
        created = await lab.create()
        assert created == 100001
        await lab.settled(created)


async def test_secrets_stay_sealed(lab: Lab) -> None:
    await lab.settled(await lab.create())
    state = await lab.save()
    key = (lab.running.roost.settings.state / "secret.key").read_bytes()
    with ZipFile(io.BytesIO(state)) as zipped:
        whole = b"".join(zipped.read(name) for name in zipped.namelist())
    for secret in (b"x9!kQ2vv_z", lab.running.token.encode(), key, key.hex().encode()):
        assert secret not in whole


async def test_other_workers_are_in_the_way(lab: Lab) -> None:
    store = lab.running.roost.store
    # Both requests come while it lives, however slow the machine is.
    seen = "clock_timestamp() + interval '1 hour'"
    await store.execute(f"insert into worker values ('elsewhere', {seen})")
    for path in ("/reset", "/save"):
        status, errors = await lab.refused("POST", path)
        reason = "Another process runs jobs, or did 2 seconds ago: stop it first"
        assert (status, errors) == (400, [{"reason": reason}])
    await store.execute("delete from worker where owner = 'elsewhere'")
    await lab.post("/reset")


class RealBinding(Binding[E_co]):
    def __init__(self, plane: str, place: str, engine: E_co, _real: bool, why: str) -> None:
        super().__init__(plane, place, engine, True, why)


async def test_a_real_engine_is_in_the_way(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("engines", "name_server"):
        monkeypatch.setattr(f"roost.app.{name}.Binding", RealBinding)
    async with running_lab(tmp_path, database_url) as lab:
        for path in ("/reset", "/save"):
            status, errors = await lab.refused("POST", path)
            assert status == 400
            assert "runs on a real engine" in errors[0]["reason"]
        assert (await lab.get("/latency"))["latency"] == []


async def test_attachments_are_part_of_the_state(lab: Lab) -> None:
    ticket = {"summary": "No connection", "description": "See the file."}
    path = f"/support/tickets/{(await lab.api.post('/support/tickets', ticket))['id']}"
    folder = lab.running.roost.settings.state / "attachments"

    async def attach(name: str, content: bytes) -> None:
        content_type, data = form(FormPart(name, content))
        headers = {"Content-Type": content_type}
        answer = await lab.api.send("POST", f"{path}/attachments", headers=headers, data=data)
        assert answer.status == 200

    def stored() -> list[bytes]:
        return sorted(file.read_bytes() for file in folder.iterdir())

    await attach("first.txt", b"first")
    state = await lab.save()
    await attach("second.txt", b"second")
    assert stored() == [b"first", b"second"]
    await lab.post("/load", state)
    assert (await lab.api.get(path))["attachments"] == ["first.txt"]
    assert stored() == [b"first"]
    await lab.post("/reset")
    assert stored() == []
    await lab.post("/load", state)
    assert stored() == [b"first"]
