"""Two-factor authentication over HTTP, and codes at a login (reference: Profile)."""

from datetime import datetime, timedelta

import pyotp
import pytest

from roost.app.roost import Roost
from roost.resources.devices.service import is_trusted, remember_device
from roost.resources.two_factor.service import verify_second_factor
from roost.secrets import Box
from tests.api.conftest import Account
from tests.support.client import Answer, Client, Json, until

ENABLE = "/profile/tfa-enable"
CONFIRM = "/profile/tfa-enable-confirm"
DISABLE = "/profile/tfa-disable"
WRONG = "Invalid token. Two-factor auth not enabled. Please try again."
NOTHING = "There is no two-factor secret to confirm. Enable two-factor first."


def code_of(secret: str, now: datetime, steps: int = 0) -> str:
    """The code of so many steps after `now`."""
    counter = int((now - datetime(1970, 1, 1)).total_seconds()) // 30 + steps
    return pyotp.TOTP(secret).generate_otp(counter)


async def enabled(client: Client, roost: Roost) -> tuple[str, str]:
    """Secret and scratch code of a factor that was confirmed with the code before the present."""
    secret = (await client.post(ENABLE))["secret"]

    async def confirm() -> Answer:
        """Of the wrong half minute when that ends on the way."""
        code = code_of(secret, roost.clock.now(), -1)
        return await client.send("POST", CONFIRM, {"tfa_code": code})

    answer = await until(confirm, lambda answer: answer.status == 200)
    return secret, answer.body["scratch"]


async def confirmed_at(roost: Roost, account: Account) -> datetime:
    """A moment in the half minute after the one whose code was the last."""
    counter = "select tfa_counter from api_user where id = $1"
    last: int = await roost.store.fetchval(counter, account.user_id)
    return datetime(1970, 1, 1) + timedelta(seconds=30 * last + 45)


async def verify(roost: Roost, account: Account, code: str, now: datetime | None = None) -> bool:
    async with roost.store.transaction() as db:
        return await verify_second_factor(
            db, roost.services.get(Box), account.user_id, code, now or roost.clock.now()
        )


async def events(client: Client) -> list[Json]:
    page = await client.get("/account/events", filter={"entity.type": "profile"})
    return [event["action"] for event in page["data"]]


async def test_enabling_and_disabling(client: Client, roost: Roost, account: Account) -> None:
    begun = await client.post(ENABLE)
    assert list(begun) == ["secret", "expiry", "otpauth_uri", "qr"]
    uri = pyotp.parse_uri(begun["otpauth_uri"])
    assert (uri.secret, uri.issuer, uri.name) == (begun["secret"], "Roost", account.username)
    assert begun["qr"].startswith("data:image/svg+xml")
    left = datetime.fromisoformat(begun["expiry"]) - roost.clock.now()
    assert timedelta(minutes=59) < left <= timedelta(hours=1)
    assert (await client.get("/profile"))["two_factor_auth"] is False
    assert await events(client) == []

    code = code_of(begun["secret"], roost.clock.now())
    confirmed = await client.post(CONFIRM, {"tfa_code": code})
    assert list(confirmed) == ["scratch"]
    assert len(confirmed["scratch"]) == 16
    assert (await client.get("/profile"))["two_factor_auth"] is True
    users = await client.get(f"/account/users/{account.username}")
    assert users["tfa_enabled"] is True

    again = await client.send("POST", ENABLE)
    assert again.problems == [(None, "Two-factor authentication is already enabled.")]
    assert await client.post(DISABLE, {"tfa_code": confirmed["scratch"]}) == {}
    assert (await client.get("/profile"))["two_factor_auth"] is False
    assert await client.post(DISABLE) == {}
    assert await client.post(DISABLE, {"tfa_code": "000000"}) == {}
    assert await events(client) == ["tfa_disabled", "tfa_enabled"]


async def test_disabling_asks_for_a_code(client: Client, roost: Roost, account: Account) -> None:
    secret, scratch = await enabled(client, roost)
    used = code_of(secret, await confirmed_at(roost, account), -1)
    wrong = "Invalid token. Two-factor auth not disabled. Please try again."
    for body, reason in (
        (None, "tfa_code is required"),
        ({}, "tfa_code is required"),
        ({"tfa_code": None}, "tfa_code is required"),
        ({"tfa_code": used}, wrong),
        ({"tfa_code": scratch.lower()}, wrong),
        ({"tfa_code": "12345"}, "Length must be 6-32 characters"),
    ):
        answer = await client.send("POST", DISABLE, body)
        assert (answer.status, answer.problems) == (400, [("tfa_code", reason)])
        assert (await client.get("/profile"))["two_factor_auth"] is True
    assert await client.post(DISABLE, {"tfa_code": code_of(secret, roost.clock.now())}) == {}
    assert (await client.get("/profile"))["two_factor_auth"] is False


async def test_the_profile_only_shows_it(client: Client, roost: Roost) -> None:
    field = "two_factor_auth"
    assert (await client.put("/profile", {field: False}))[field] is False
    answer = await client.send("PUT", "/profile", {field: True})
    assert answer.problems == [(field, "Enable two-factor authentication with tfa-enable")]
    await enabled(client, roost)
    assert (await client.put("/profile", {field: True}))[field] is True
    answer = await client.send("PUT", "/profile", {field: False, "timezone": "UTC"})
    assert answer.problems == [(field, "Disable two-factor authentication with tfa-disable")]
    profile = await client.get("/profile")
    assert (profile[field], profile["timezone"]) == (True, "GMT")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("", "Must be 6 digits"),
        ("12345", "Must be 6 digits"),
        ("1234567", "Must be 6 digits"),
        ("12345a", "Must be 6 digits"),
        (" 12345", "Must be 6 digits"),
        ("123 456", "Must be 6 digits"),
        ("12345\u0666", "Must be 6 digits"),
        (123456, "Must be a string"),
        (None, "tfa_code is required"),
    ],
)
async def test_what_is_no_code(client: Client, code: Json, reason: str) -> None:
    await client.post(ENABLE)
    answer = await client.send("POST", CONFIRM, {"tfa_code": code})
    assert (answer.status, answer.problems) == (400, [("tfa_code", reason)])


@pytest.mark.parametrize("steps", [-3, 3, 1000])
async def test_codes_of_another_time(client: Client, roost: Roost, steps: int) -> None:
    secret = (await client.post(ENABLE))["secret"]
    code = code_of(secret, roost.clock.now(), steps)
    answer = await client.send("POST", CONFIRM, {"tfa_code": code})
    assert (answer.status, answer.problems) == (400, [("tfa_code", WRONG)])
    assert (await client.get("/profile"))["two_factor_auth"] is False


async def test_nothing_to_confirm(client: Client, roost: Roost, account: Account) -> None:
    answer = await client.send("POST", CONFIRM, {"tfa_code": "123456"})
    assert (answer.status, answer.problems) == (400, [(None, NOTHING)])
    secret = (await client.post(ENABLE))["secret"]
    await roost.store.execute(
        "update api_user set tfa_expiry = $2 where id = $1", account.user_id, roost.clock.seconds()
    )
    code = code_of(secret, roost.clock.now())
    assert (await client.send("POST", CONFIRM, {"tfa_code": code})).problems == [(None, NOTHING)]


async def test_a_secret_that_was_replaced_is_void(client: Client, roost: Roost) -> None:
    former = (await client.post(ENABLE))["secret"]
    present = (await client.post(ENABLE))["secret"]
    code = code_of(former, roost.clock.now())
    assert (await client.send("POST", CONFIRM, {"tfa_code": code})).status == 400
    await client.post(CONFIRM, {"tfa_code": code_of(present, roost.clock.now())})


async def test_each_code_lets_in_once(client: Client, roost: Roost, account: Account) -> None:
    secret, _ = await enabled(client, roost)
    now = await confirmed_at(roost, account)
    assert not await verify(roost, account, code_of(secret, now, -1), now), "used to confirm"
    assert await verify(roost, account, code_of(secret, now, 0), now)
    assert not await verify(roost, account, code_of(secret, now, 0), now)
    assert await verify(roost, account, code_of(secret, now, 1), now)
    assert not await verify(roost, account, code_of(secret, now, 0), now), "older than the last"
    assert not await verify(roost, account, code_of(secret, now, 2), now), "too early"
    assert not await verify(roost, account, "0000001", now)
    assert await verify(roost, account, code_of(secret, now, 2), now + timedelta(seconds=60))


async def test_the_scratch_code_lets_in_once(
    client: Client, roost: Roost, account: Account
) -> None:
    _, scratch = await enabled(client, roost)
    assert not await verify(roost, account, scratch.lower())
    assert await verify(roost, account, scratch)
    assert not await verify(roost, account, scratch)
    assert (await client.get("/profile"))["two_factor_auth"] is True


async def test_no_code_lets_in_without_a_second_factor(
    client: Client, roost: Roost, account: Account
) -> None:
    secret = (await client.post(ENABLE))["secret"]
    assert not await verify(roost, account, code_of(secret, roost.clock.now()))
    assert not await verify(roost, account, "")


async def test_disabling_forgets_trusted_devices(
    client: Client, roost: Roost, account: Account
) -> None:
    _, scratch = await enabled(client, roost)
    now = roost.clock.now()
    device = await remember_device(roost.store, account.user_id, "browser", "192.0.2.7", now)
    assert await is_trusted(roost.store, account.user_id, device, "192.0.2.7", now)
    await client.post(DISABLE, {"tfa_code": scratch})
    assert not await is_trusted(roost.store, account.user_id, device, "192.0.2.7", now)
    assert (await client.get("/profile/devices"))["data"] == []


async def test_secrets_are_sealed_or_hashed(client: Client, roost: Roost, account: Account) -> None:
    secret, scratch = await enabled(client, roost)
    row = await roost.store.fetchrow(
        "select tfa_secret, tfa_scratch from api_user where id = $1", account.user_id
    )
    assert row is not None
    assert roost.services.get(Box).open(row["tfa_secret"]) == secret.encode()
    assert secret.encode() not in row["tfa_secret"]
    assert scratch.encode() not in row["tfa_scratch"]
