"""Suspended accounts: what runs rests and comes back, what is kept is kept, nothing new is made."""

from datetime import timedelta
from decimal import Decimal

import pytest

from roost.app.roost import Roost
from roost.jobs import JobArgs
from roost.resources.payments.rules import DUE
from roost.resources.suspension import queries as accounts
from roost.resources.suspension import service
from roost.resources.suspension.settings import WARNED_BEFORE, Grace
from roost.resources.suspension.watch_jobs import WATCH
from roost.services import Services
from tests.api.conftest import Account
from tests.support.client import Client, Json, until
from tests.support.databases import DATABASES, database_body, database_engine, made_database
from tests.support.disks import engine_of, path_of, powered, running
from tests.support.instances import INSTANCES, create_body, made
from tests.support.invoices import owed
from tests.support.volumes import VOLUMES, made_volume, volume_body

pytestmark = pytest.mark.spec("A database status")

SUSPENDED = "This account is suspended. Please make a payment, or open a support ticket."
GRACE = timedelta(days=10)


async def suspend(roost: Roost, account: Account, reason: str = "a breach") -> None:
    async with roost.store.transaction() as db:
        now = roost.clock.seconds()
        await service.suspend(db, account.id, "operator", reason, now)
    await look(roost)


async def resume(roost: Roost, account: Account) -> None:
    async with roost.store.transaction() as db:
        await service.resume(db, account.id)
    await look(roost)


async def look(roost: Roost) -> None:
    """As the worker does each minute."""
    async with roost.store.transaction() as db:
        await roost.queue.enqueue(db, WATCH, JobArgs())


async def becomes(client: Client, path: str, status: str) -> Json:
    return await until(lambda: client.get(path), lambda row: row["status"] == status)


async def test_what_runs_rests_and_comes_back(
    client: Client, roost: Roost, account: Account
) -> None:
    runs, off = await running(client), path_of(await made(client))
    database = await made_database(client)
    engine, path = database_engine(roost), f"{DATABASES}/{database['id']}"
    await engine.write(database["id"], "kept")
    await suspend(roost, account)
    for each in (runs, off):
        await becomes(client, each, "billing_suspension")
    await becomes(client, path, "suspended")
    guest = await engine_of(roost).inspect(int(runs.rpartition("/")[2]))
    assert guest is not None
    assert guest.power == "offline"
    state = await engine.inspect(database["id"])
    assert state is not None
    assert not state.running
    await resume(roost, account)
    await becomes(client, runs, "running")
    await becomes(client, off, "offline")
    await becomes(client, path, "active")
    assert await engine.read(database["id"]) == "kept"


async def test_what_a_suspended_account_may_do(
    client: Client, roost: Roost, account: Account
) -> None:
    path, volume = await running(client), await made_volume(client)
    await suspend(roost, account)
    await becomes(client, path, "billing_suspension")
    for method, target, body in (
        ("POST", f"{path}/boot", {}),
        ("POST", f"{path}/reboot", {}),
        ("POST", f"{path}/rebuild", {"image": "roost/debian12", "root_pass": "correct-Horse7b"}),
        ("POST", f"{path}/resize", {"type": "g1-standard-1"}),
        ("POST", f"{path}/rescue", {}),
        ("POST", f"{path}/migrate", {"region": "br-south"}),
        ("POST", f"{VOLUMES}/{volume['id']}/attach", {"compute_id": int(path.split("/")[-1])}),
    ):
        answer = await client.send(method, target, body)
        assert (answer.status, answer.problems) == (400, [(None, SUSPENDED)]), target
    for target, body in (
        (INSTANCES, create_body(label="another")),
        (VOLUMES, volume_body(label="another")),
        (DATABASES, database_body(label="another")),
        (
            "/domains",
            {"domain": "suspended-owner.example", "type": "master", "soa_email": "a@example.org"},
        ),
    ):
        answer = await client.send("POST", target, body)
        assert (answer.status, answer.problems) == (403, [(None, SUSPENDED)]), target
    (notice,) = [
        each
        for each in (await client.get("/account/notifications"))["data"]
        if each["label"] == "Account suspended"
    ]
    assert (notice["message"], notice["body"]) == (SUSPENDED, "a breach")
    assert (await client.get(f"{VOLUMES}/{volume['id']}"))["status"] == "active"
    ticket = {"summary": "Why?", "description": "Please let us go on."}
    assert (await client.post("/support/tickets", ticket))["status"] in ("new", "open")
    await client.delete(path)
    await until(lambda: client.send("GET", path), lambda answer: answer.status == 404)


async def test_what_was_being_done_is_done_first(
    client: Client, roost: Roost, account: Account
) -> None:
    plan = engine_of(roost).plan
    path = await running(client)
    await plan.set_latency(0.6, "disk_resize")
    try:
        await client.post(f"{path}/resize", {"type": "g1-standard-1"})
        await suspend(roost, account)
        row = await becomes(client, path, "billing_suspension")
    finally:
        await plan.set_latency(0, "disk_resize")
    assert row["type"] == "g1-standard-1"
    await resume(roost, account)
    await becomes(client, path, "running")


async def test_a_change_of_mind(client: Client, roost: Roost, account: Account) -> None:
    """Whatever was on its way, everything becomes as the account is in the end."""
    path = await running(client)
    for _ in range(3):
        await suspend(roost, account)
        await resume(roost, account)
    await look(roost)

    async def found() -> Json:
        return await client.get(path)

    await until(found, lambda row: row["status"] == "running")
    assert (await powered(client, path, "reboot"))["status"] == "running"


async def _owes(roost: Roost, account: Account, age: timedelta) -> None:
    await owed(roost.store, account.id, Decimal(20), roost.clock.seconds() - age)
    await roost.store.execute("update account set balance = 20 where id = $1", account.id)


async def _state(roost: Roost, account: Account, grace: timedelta | None) -> tuple[bool, bool]:
    """Whether it is suspended, and was told that it is going to be, after a look at debtors."""
    services = Services(Grace(grace), *roost.services._services)
    await service.look_for_debtors(roost.store, services, roost.clock.seconds())
    facts = await accounts.find(roost.store, account.id)
    assert facts is not None
    return facts.suspended, facts.warned is not None


@pytest.mark.parametrize(
    ("age", "grace", "suspended", "warned"),
    [
        (timedelta(days=1), GRACE, False, False),
        (DUE + GRACE - WARNED_BEFORE - timedelta(hours=1), GRACE, False, False),
        (DUE + GRACE - WARNED_BEFORE + timedelta(hours=1), GRACE, False, True),
        (DUE + GRACE + timedelta(hours=1), GRACE, True, False),
        (DUE + timedelta(hours=1), timedelta(), True, False),
        (DUE - timedelta(hours=1), timedelta(), False, False),
        (timedelta(days=900), None, False, False),
    ],
)
async def test_who_is_late(
    client: Client,
    roost: Roost,
    account: Account,
    age: timedelta,
    grace: timedelta | None,
    suspended: bool,
    warned: bool,
) -> None:
    await _owes(roost, account, age)
    for _ in range(2):
        assert await _state(roost, account, grace) == (suspended, warned)


async def test_who_pays_goes_on(client: Client, roost: Roost, account: Account) -> None:
    path = await running(client)
    await _owes(roost, account, DUE + GRACE + timedelta(hours=1))
    assert await _state(roost, account, GRACE) == (True, False)
    await look(roost)
    await becomes(client, path, "billing_suspension")
    await roost.store.execute("update account set balance = 0 where id = $1", account.id)
    assert await _state(roost, account, GRACE) == (False, False)
    await look(roost)
    await becomes(client, path, "running")


async def test_a_newer_invoice_is_not_late(client: Client, roost: Roost, account: Account) -> None:
    """Who has paid the old one goes on, though another one is due."""
    await _owes(roost, account, DUE + GRACE + timedelta(hours=1))
    assert (await _state(roost, account, GRACE))[0]
    await _owes(roost, account, timedelta(days=1))
    assert await _state(roost, account, GRACE) == (False, False)


async def test_a_payment_does_not_end_what_the_operator_did(
    client: Client, roost: Roost, account: Account
) -> None:
    await suspend(roost, account)
    await roost.store.execute(
        "update account set balance = $2 where id = $1", account.id, Decimal(0)
    )
    assert (await _state(roost, account, GRACE))[0]
    await resume(roost, account)
