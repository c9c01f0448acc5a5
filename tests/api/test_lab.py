"""The lab over HTTP: who may use it, the clock, latency and faults."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from roost.app.groups import GROUPS
from roost.clock import Clock
from roost.core import account_queries as accounts
from roost.core.narrowing import Restriction, narrow
from roost.core.scopes import Scopes
from roost.ids import new_uuid
from roost.jobs import Schedule
from roost.jobs.retention import RETENTION, RetentionArgs
from roost.resources.account import queries
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.tokens.service import issue_token
from tests.support.client import Json, until
from tests.support.lab import Lab, running_lab

ROUTES = [
    ("GET", "/clock"),
    ("PUT", "/clock"),
    ("GET", "/engines"),
    ("GET", "/latency"),
    ("PUT", "/latency"),
    ("GET", "/faults"),
    ("DELETE", "/faults"),
    ("POST", "/faults/engines"),
    ("POST", "/faults/jobs"),
    ("POST", "/reset"),
    ("POST", "/save"),
    ("POST", "/load"),
]
YEARLY = Schedule("yearly", "0 0 1 1 *", RETENTION, RetentionArgs(days=30))
DAILY = Schedule("daily", "0 0 * * *", RETENTION, RetentionArgs(days=30), catch_up=True)


@pytest.fixture
async def lab(tmp_path: Path, database_url: str) -> AsyncIterator[Lab]:
    async with running_lab(tmp_path, database_url) as lab:
        yield lab


async def token_of(
    lab: Lab, *, restricted: bool = False, scopes: str = "*", tenant: bool = False
) -> str:
    """Of another user of the operator's account, or of a tenant's."""
    store, clock = lab.running.roost.store, lab.running.roost.clock
    account_id = await store.fetchval("select min(id) from account")
    if tenant:
        account_id = await queries.create_account(store, new_uuid(), clock.seconds())
    name = f"user-{new_uuid()}"
    user_id = await accounts.create_user(store, account_id, name, restricted, clock.seconds())
    return await issue_token(store, clock, user_id, "test", Scopes.parse(scopes))


async def last_event(lab: Lab, action: str) -> Json:
    """The newest event of an action, once it has ended."""

    async def newest() -> Json:
        events = (await lab.api.get("/account/events"))["data"]
        return next((e for e in events if e["action"] == action), None)

    return await until(newest, lambda e: bool(e and e["status"] in ("finished", "failed")))


async def test_without_lab_there_is_nothing(tmp_path: Path, database_url: str) -> None:
    async with running_lab(tmp_path, database_url, lab=False) as plain:
        for method, path in [*ROUTES, ("GET", ""), ("GET", "/nothing")]:
            answer = await plain.refused(method, path)
            assert answer == (404, [{"reason": "Not found"}]), path


async def test_only_the_operator_enters(lab: Lab) -> None:
    strangers = {
        "": (401, "Invalid Token"),
        "0" * 64: (401, "Invalid Token"),
        await token_of(lab, scopes="computes:read_write"): (
            401,
            "Your OAuth token is not authorized to use this endpoint.",
        ),
        narrow(await token_of(lab), Restriction(operations=("list_volumes",))): (
            401,
            "Your OAuth token is not authorized to use this endpoint.",
        ),
        await token_of(lab, restricted=True): (403, "Unauthorized"),
        await token_of(lab, tenant=True): (403, "Unauthorized"),
    }
    for token, (status, reason) in strangers.items():
        for method, path in ROUTES:
            answer = await lab.send(method, path, token=token)
            assert answer[0] == status, path
            assert json.loads(answer[1]) == {"errors": [{"reason": reason}]}
    assert (await lab.send("GET", "/clock", token=await token_of(lab)))[0] == 200


async def test_unknown_paths_and_methods(lab: Lab) -> None:
    assert await lab.refused("GET", "/nothing") == (404, [{"reason": "Not found"}])
    assert await lab.refused("PATCH", "/clock") == (
        405,
        [{"reason": "Method Not Allowed: PATCH"}],
    )


async def test_a_body_is_bounded(lab: Lab) -> None:
    most = lab.running.roost.settings.max_body
    refused = (400, [{"reason": "The body is too large"}])
    assert await lab.refused("PUT", "/clock", b" " * (most + 1)) == refused
    padded = json.dumps({"advance": 1}).encode().ljust(most)
    assert (await lab.send("PUT", "/clock", padded))[0] == 200


async def test_the_clock_moves_forwards(lab: Lab) -> None:
    shown = await lab.get("/clock")
    assert abs(datetime.fromisoformat(shown["now"]) - Clock().now()) < timedelta(seconds=5)
    assert shown["offset_seconds"] == 0
    moved = await lab.put("/clock", {"advance": 90.5})
    assert moved["offset_seconds"] == 90.5
    moved = await lab.put("/clock", {"now": "2100-01-01T02:00:00+02:00"})
    assert moved["now"] == "2100-01-01T00:00:00"
    created = await lab.create()
    row = await lab.api.get(f"/compute/instances/{created}")
    assert row["created"].startswith("2100-01-01T00:00:")


async def test_what_a_clock_does_not_do(lab: Lab) -> None:
    async def reasons(body: Json) -> Json:
        status, errors = await lab.refused("PUT", "/clock", body)
        assert status == 400
        return [(e.get("field"), e["reason"]) for e in errors]

    before = "The clock only moves forwards; reset or load a state to go back"
    assert await reasons({"now": "2020-01-01T00:00:00"}) == [("now", before)]
    for body in ({}, {"now": "2100-01-01T00:00:00", "advance": 1}):
        assert await reasons(body) == [(None, "Either now or advance is required")]
    assert await reasons({"now": "soon"}) == [("now", "Must be a time such as 2030-01-31T12:00:00")]
    assert await reasons({"advance": -1}) == [("advance", "Must be 0-100000000000")]
    assert await reasons({"advance": "1"}) == [("advance", "Must be a number")]
    too_far = "Must not lead beyond 9000-01-01"
    assert await reasons({"now": "9999-12-31T23:59:59"}) == [("now", too_far)]
    await lab.put("/clock", {"now": "8000-01-01T00:00:00"})
    assert await reasons({"advance": 99_000_000_000}) == [("advance", too_far)]
    shown = await lab.get("/clock")
    assert (await lab.send("PUT", "/clock", shown))[0] == 200


async def test_moves_at_the_same_time_add_up(lab: Lab) -> None:
    await asyncio.gather(*(lab.put("/clock", {"advance": 10}) for _ in range(20)))
    assert (await lab.get("/clock"))["offset_seconds"] == 200


async def test_the_clock_survives_a_restart(tmp_path: Path, database_url: str) -> None:
    async with running_lab(tmp_path, database_url) as lab:
        await lab.put("/clock", {"now": "2100-01-01T00:00:00"})
    async with running_lab(tmp_path, database_url) as lab:
        assert (await lab.get("/clock"))["now"].startswith("2100-01-01T00:0")
    async with running_lab(tmp_path, database_url, lab=False) as plain:
        assert plain.running.roost.clock.now().year < 2100


async def test_processes_of_one_database_follow(tmp_path: Path, database_url: str) -> None:
    async with (
        running_lab(tmp_path, database_url) as lab,
        running_lab(tmp_path, database_url, worker=False) as other,
    ):
        await lab.put("/clock", {"now": "2100-01-01T00:00:00"})

        async def year() -> int:
            return other.running.roost.clock.now().year

        await until(year, lambda found: found == 2100)
        await other.put("/clock", {"now": "2200-01-01T00:00:00"})
        await other.settled(await other.create())
        assert (await lab.get("/clock"))["now"].startswith("2200-01-01T00:0")


async def test_a_year_passes(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GROUPS, "schedules", (YEARLY, DAILY))
    async with running_lab(tmp_path, database_url) as lab:
        begin = lab.running.roost.clock.now()
        await lab.put("/clock", {"advance": 366 * 86400})
        midnight = begin.replace(hour=0, minute=0, second=0, microsecond=0)
        daily = [midnight + timedelta(days=n) for n in range(1, 367)]
        assert await ended_ticks(lab, "daily", daily[-1]) == daily
        yearly = [day for day in daily if (day.month, day.day) == (1, 1)]
        assert await ended_ticks(lab, "yearly", yearly[-1]) == yearly


async def ended_ticks(lab: Lab, schedule: str, last: datetime) -> list[datetime]:
    """The ticks of a schedule whose jobs have run, once `last` is one of them."""

    async def ticks() -> list[datetime]:
        rows = await lab.running.roost.store.fetch(
            "select tick from job where schedule = $1 and status = 'done' order by tick", schedule
        )
        return [row["tick"] for row in rows]

    return await until(ticks, lambda found: last in found)


async def test_latency(tmp_path: Path, database_url: str) -> None:
    async with running_lab(tmp_path, database_url, simulated_latency=60) as lab:
        rows = (await lab.get("/latency"))["latency"]
        assert {"region": "local", "operation": "disk_make", "seconds": 60.0} in rows
        slow = await lab.create()
        engine = lab.running.roost.engines.of(INSTANCE_PLANE, "local")
        await until(lambda: engine.inspect(slow), lambda guest: guest is not None)
        await lab.put("/latency", {"seconds": 0})
        quick = await lab.create()
        await lab.settled(quick)
        await lab.settled(slow, "provisioning")
        body = {"region": "local", "operation": "stop", "seconds": 0.3}
        rows = (await lab.put("/latency", body))["latency"]
        assert [row for row in rows if row["seconds"]] == [body]
        started = asyncio.get_running_loop().time()
        await lab.api.post(f"/compute/instances/{quick}/shutdown")
        await lab.settled(quick, "offline")
        assert asyncio.get_running_loop().time() - started > 0.3


async def test_refused_plans(lab: Lab) -> None:
    fault = {"region": "local", "operation": "start"}
    job = {"kind": "compute_boot", "step": "start"}
    for path, body, field in (
        ("/latency", {"region": "nowhere", "seconds": 1}, "region"),
        ("/latency", {"seconds": -1}, "seconds"),
        ("/latency", {"operation": "fly", "seconds": 1}, "operation"),
        ("/faults/engines", {**fault, "region": "nowhere"}, "region"),
        ("/faults/engines", {**fault, "operation": "put_zone"}, "operation"),
        ("/faults/engines", {**fault, "times": 0}, "times"),
        ("/faults/engines", {**fault, "reason": ""}, "reason"),
        ("/faults/jobs", {**job, "kind": "fly"}, "kind"),
        ("/faults/jobs", {**job, "step": "fly"}, "step"),
        ("/faults/jobs", {"kind": "compute_create", "step": "settle", "undo": True}, "undo"),
        ("/faults/jobs", {**job, "point": "after_commit"}, "effect"),
    ):
        status, errors = await lab.refused("PUT" if path == "/latency" else "POST", path, body)
        assert (status, [e["field"] for e in errors]) == (400, [field]), body
    assert await lab.get("/faults") == {"engines": [], "jobs": []}


async def test_an_engine_fails_until_it_is_mended(lab: Lab) -> None:
    fault = {"region": "local", "operation": "start", "reason": "no power", "times": None}
    planned = await lab.post("/faults/engines", fault)
    assert planned == {"engines": [fault], "jobs": []}
    created = await lab.create()

    async def skip_a_pause() -> Json:
        """Between two of the eight attempts."""
        await lab.put("/clock", {"advance": 600})
        events = (await lab.api.get("/account/events"))["data"]
        return next((e for e in events if e["action"] == "compute_boot"), None)

    event = await until(skip_a_pause, lambda e: bool(e and e["status"] in ("finished", "failed")))
    assert (event["status"], event["message"]) == ("failed", "no power")
    await lab.settled(created, "offline")
    assert await lab.delete("/faults") == {"engines": [], "jobs": []}
    await lab.api.post(f"/compute/instances/{created}/boot")
    await lab.settled(created)


async def test_a_step_fails_as_often_as_planned(lab: Lab) -> None:
    fault = {"kind": "compute_boot", "step": "start", "reason": "as planned"}
    planned = await lab.post("/faults/jobs", fault)
    assert planned["jobs"] == [
        {
            "kind": "compute_boot",
            "step": "start",
            "point": "before_step",
            "undo": False,
            "times": 1,
        }
    ]
    created = await lab.create()
    event = await last_event(lab, "compute_boot")
    assert (event["status"], event["message"]) == ("failed", "as planned")
    await lab.settled(created, "offline")
    assert (await lab.get("/faults"))["jobs"] == []
    await lab.api.post(f"/compute/instances/{created}/boot")
    await lab.settled(created)


async def test_a_crash_is_recovered_from(lab: Lab) -> None:
    for point in ("before_commit", "after_commit"):
        body = {"kind": "compute_create", "step": "make", "point": point, "effect": "crash"}
        await lab.post("/faults/jobs", body)
    await lab.settled(await lab.create())
    assert (await lab.get("/faults"))["jobs"] == []


async def test_a_process_without_jobs_plans_no_faults_for_them(
    tmp_path: Path, database_url: str
) -> None:
    async with running_lab(tmp_path, database_url, worker=False) as lab:
        body = {"kind": "compute_boot", "step": "start"}
        assert await lab.refused("POST", "/faults/jobs", body) == (
            400,
            [{"reason": "This process runs no jobs"}],
        )
