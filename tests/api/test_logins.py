"""Logins and trusted devices over HTTP (spec B, Account; reference: Login, Trusted device)."""

from datetime import timedelta

import pytest

from roost.app.roost import Roost
from roost.resources.devices.service import is_trusted, remember_device
from roost.resources.logins.queries import record_login
from tests.api.conftest import Account, NewAccount, NewToken
from tests.support.client import Client

pytestmark = pytest.mark.spec("B account logins", "B auth 5")


@pytest.mark.spec("B account logins view")
@pytest.mark.parametrize("ip", ["192.0.2.1", "2001:db8::1"])
async def test_a_login(client: Client, roost: Roost, account: Account, ip: str) -> None:
    now = roost.clock.now()
    await record_login(roost.store, account.user_id, ip, "successful", now)
    for logins in ("/profile/logins", "/account/logins"):
        (row,) = [row for row in (await client.get(logins))["data"] if row["ip"] == ip]
        assert row == {
            "id": row["id"],
            "datetime": now.isoformat(timespec="seconds"),
            "ip": ip,
            "username": account.username,
            "status": "successful",
            "restricted": False,
        }
        assert await client.get(f"{logins}/{row['id']}") == row
    user = await client.get(f"/account/users/{account.username}")
    assert user["last_login"] == {"login_datetime": row["datetime"], "status": "successful"}


@pytest.mark.spec("B account logins window")
async def test_old_logins_are_not_listed_and_failed_ones_to_their_user_only(
    client: Client, roost: Roost, account: Account
) -> None:
    now = roost.clock.now()
    for days, status in ((91, "successful"), (89, "successful"), (1, "failed")):
        await roost.store.execute(
            "insert into login (account_id, user_id, username, ip, datetime, status, restricted)"
            " values ($1, $2, 'me', '192.0.2.99', $3, $4, false)",
            account.id,
            account.user_id,
            now - timedelta(days=days),
            status,
        )
    rows = await roost.store.fetch(
        "select id from login where account_id = $1 and ip = '192.0.2.99' order by id", account.id
    )
    for logins, found in (
        ("/profile/logins", [404, 200, 200]),
        ("/account/logins", [404, 200, 404]),
    ):
        data = [row for row in (await client.get(logins))["data"] if row["ip"] == "192.0.2.99"]
        ids = [row["id"] for row, status in zip(rows, found, strict=True) if status == 200]
        assert [row["id"] for row in data] == ids
        statuses = [(await client.send("GET", f"{logins}/{row['id']}")).status for row in rows]
        assert statuses == found
        shown = [row["status"] for row in data]
        assert shown == ["successful", "failed"][: len(ids)]


async def test_a_failed_login_is_the_users_last(
    client: Client, roost: Roost, account: Account
) -> None:
    now = roost.clock.now()
    await record_login(roost.store, account.user_id, "192.0.2.1", "failed", now)
    user = await client.get(f"/account/users/{account.username}")
    assert user["last_login"]["status"] == "failed"


async def test_users_see_their_own_logins_and_unrestricted_ones_all(
    client: Client, roost: Roost, account: Account, nobody: Client, new_token: NewToken
) -> None:
    name = f"colleague-{account.id}"
    body = {"username": name, "email": "c@example.com", "restricted": True}
    await client.post("/account/users", body)
    user_id = await roost.store.fetchval("select id from api_user where username = $1", name)
    colleague = nobody.as_user(await new_token(Account(account.id, user_id, name)))
    await record_login(roost.store, account.user_id, "192.0.2.1", "successful", roost.clock.now())
    await record_login(roost.store, user_id, "192.0.2.2", "successful", roost.clock.now())
    (own,) = [r for r in (await colleague.get("/profile/logins"))["data"] if r["ip"] != "127.0.0.1"]
    assert (own["username"], own["restricted"]) == (name, True)
    assert (await colleague.send("GET", "/account/logins")).status == 403
    assert (await client.send("GET", f"/profile/logins/{own['id']}")).status == 404
    assert await client.get(f"/account/logins/{own['id']}") == own
    ips = [row["ip"] for row in (await client.get("/account/logins"))["data"]]
    assert [ip for ip in ips if ip != "127.0.0.1"] == ["192.0.2.1", "192.0.2.2"]


async def test_life_of_a_trusted_device(client: Client, roost: Roost, account: Account) -> None:
    now, user_id = roost.clock.seconds(), account.user_id
    secret = await remember_device(roost.store, user_id, "a browser", "192.0.2.1", now)
    (row,) = (await client.get("/profile/devices"))["data"]
    assert row == {
        "id": row["id"],
        "created": now.isoformat(),
        "expiry": (now + timedelta(days=30)).isoformat(),
        "user_agent": "a browser",
        "last_authenticated": now.isoformat(),
        "last_remote_addr": "192.0.2.1",
    }
    later = now + timedelta(days=29)
    assert await is_trusted(roost.store, user_id, secret, "2001:db8::1", later)
    path = f"/profile/devices/{row['id']}"
    used = await client.get(path)
    assert used == {
        **row,
        "last_authenticated": later.isoformat(),
        "last_remote_addr": "2001:db8::1",
    }
    assert not await is_trusted(roost.store, user_id, secret, "::1", now + timedelta(days=30))
    assert await client.delete(path) == {}
    assert not await is_trusted(roost.store, user_id, secret, "192.0.2.1", now)
    assert (await client.send("GET", path)).status == 404
    assert (await client.send("DELETE", path)).status == 404


async def test_a_device_is_trusted_by_its_user_alone(
    client: Client, roost: Roost, account: Account, new_account: NewAccount
) -> None:
    now = roost.clock.now()
    secret = await remember_device(roost.store, account.user_id, "x" * 600, "192.0.2.1", now)
    other = await new_account()
    assert not await is_trusted(roost.store, other.user_id, secret, "192.0.2.1", now)
    assert not await is_trusted(roost.store, account.user_id, secret[:-1], "192.0.2.1", now)
    (row,) = (await client.get("/profile/devices"))["data"]
    assert row["user_agent"] == "x" * 512
    kept = await roost.store.fetchval(
        "select d::text from trusted_device d where user_id = $1", account.user_id
    )
    assert secret not in kept


async def test_expired_devices_vanish(client: Client, roost: Roost, account: Account) -> None:
    past = roost.clock.now() - timedelta(days=30)
    await remember_device(roost.store, account.user_id, "old", "192.0.2.1", past)
    assert (await client.get("/profile/devices"))["data"] == []
    await remember_device(roost.store, account.user_id, "new", "192.0.2.1", roost.clock.now())
    count = await roost.store.fetchval(
        "select count(*) from trusted_device where user_id = $1", account.user_id
    )
    assert count == 1
