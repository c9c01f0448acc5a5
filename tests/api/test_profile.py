"""The profile of one's user over HTTP (reference: Profile)."""

import asyncio

import pytest

from roost.app.roost import Roost
from tests.api.conftest import Account, NewAccount, NewToken, NewUser
from tests.support.client import Client, Json, until
from tests.support.keys import KEY

NO_KEY = "Must be an SSH public key in OpenSSH format"
NO_EMAIL = "Must be an email address"


async def actions(client: Client) -> list[str]:
    return [event["action"] for event in (await client.get("/account/events"))["data"]]


async def test_the_record_has_every_field(client: Client, account: Account) -> None:
    assert await client.get("/profile") == {
        "uid": account.user_id,
        "username": account.username,
        "email": "",
        "verified_phone_number": None,
        "timezone": "GMT",
        "email_notifications": True,
        "referrals": {
            "code": "",
            "url": "",
            "total": 0,
            "completed": 0,
            "pending": 0,
            "credit": 0,
        },
        "ip_whitelist_enabled": False,
        "lish_auth_method": "keys_only",
        "authorized_keys": None,
        "two_factor_auth": False,
        "restricted": False,
        "authentication_type": "password",
        "user_type": "default",
    }


async def test_it_can_be_sent_back_whole(client: Client) -> None:
    before = await client.get("/profile")
    assert await client.put("/profile", before) == before
    assert await actions(client) == ["profile_update"]


async def test_the_event(client: Client, account: Account) -> None:
    await client.put("/profile", {"timezone": "UTC"})
    (event,) = (await client.get("/account/events"))["data"]
    assert (event["action"], event["status"]) == ("profile_update", "notification")
    assert event["username"] == account.username
    assert event["entity"] == {
        "id": None,
        "label": account.username,
        "type": "profile",
        "url": "/v4/profile",
    }


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("email", "me@example.com"),
        ("email", "Me+cloud@sub.example.co.uk"),
        ("email", "a@" + "b" * 60 + "." + "c" * 60 + ".d"),
        ("timezone", "GMT"),
        ("timezone", "Europe/Berlin"),
        ("timezone", "America/Argentina/Buenos_Aires"),
        ("timezone", "Etc/GMT+12"),
        ("email_notifications", False),
        ("email_notifications", True),
        ("ip_whitelist_enabled", False),
        ("lish_auth_method", "password_keys"),
        ("lish_auth_method", "keys_only"),
        ("lish_auth_method", "disabled"),
        ("authorized_keys", []),
        ("authorized_keys", [KEY, f"{KEY} me@laptop"]),
        ("authorized_keys", None),
        ("two_factor_auth", False),
        ("restricted", False),
    ],
)
async def test_what_is_sent_is_kept(client: Client, field: str, value: Json) -> None:
    before = await client.get("/profile")
    after = await client.put("/profile", {field: value})
    assert after == {**before, field: value}
    assert await client.get("/profile") == after


@pytest.mark.parametrize(
    ("field", "value", "where", "reason"),
    [
        ("email", "me", "email", NO_EMAIL),
        ("email", "me@localhost", "email", NO_EMAIL),
        ("email", "me@example.com ", "email", NO_EMAIL),
        ("email", "me@example.com\nBcc: you@example.com", "email", NO_EMAIL),
        ("email", "m\u00e9@example.com", "email", NO_EMAIL),
        ("email", "a" * 117 + "@example.com", "email", "Length must be 0-128 characters"),
        ("email", 5, "email", "Must be a string"),
        ("timezone", "", "timezone", "timezone is not valid"),
        ("timezone", "gmt", "timezone", "timezone is not valid"),
        ("timezone", "Europe", "timezone", "timezone is not valid"),
        ("timezone", "Europe/Berlin ", "timezone", "timezone is not valid"),
        ("timezone", "../../etc/passwd", "timezone", "timezone is not valid"),
        ("timezone", "localtime", "timezone", "timezone is not valid"),
        ("timezone", "UTC+1", "timezone", "timezone is not valid"),
        ("email_notifications", "yes", "email_notifications", "Must be true or false"),
        ("email_notifications", 1, "email_notifications", "Must be true or false"),
        (
            "ip_whitelist_enabled",
            True,
            "ip_whitelist_enabled",
            "Address whitelists are not available",
        ),
        (
            "lish_auth_method",
            "keys",
            "lish_auth_method",
            "Must be one of password_keys, keys_only, disabled",
        ),
        ("authorized_keys", KEY, "authorized_keys", "Must be an array"),
        ("authorized_keys", [KEY, "key"], "authorized_keys[1]", NO_KEY),
        ("authorized_keys", [KEY, None], "authorized_keys[1]", "Must be a string"),
        (
            "two_factor_auth",
            True,
            "two_factor_auth",
            "Enable two-factor authentication with tfa-enable",
        ),
        ("restricted", 0, "restricted", "Must be true or false"),
    ],
)
async def test_what_is_refused_changes_nothing(
    client: Client, field: str, value: Json, where: str, reason: str
) -> None:
    before = await client.get("/profile")
    answer = await client.send("PUT", "/profile", {"timezone": "UTC", field: value})
    assert (answer.status, answer.problems) == (400, [(where, reason)])
    assert await client.get("/profile") == before
    assert await actions(client) == []


async def test_all_errors_come_in_field_order(client: Client) -> None:
    wrong = {"restricted": "x", "authorized_keys": ["x"], "timezone": "x", "email": "x"}
    answer = await client.send("PUT", "/profile", wrong)
    fields = [field for field, _ in answer.problems]
    assert fields == ["email", "timezone", "authorized_keys[0]", "restricted"]


async def test_what_only_reads_say_is_ignored(client: Client) -> None:
    before = await client.get("/profile")
    sent = {"uid": 1, "username": "root", "user_type": "parent", "authentication_type": "github"}
    assert await client.put("/profile", sent) == before


async def test_the_last_unrestricted_user_stays_so(client: Client) -> None:
    answer = await client.send("PUT", "/profile", {"restricted": True})
    reason = "The account needs at least one unrestricted user."
    assert (answer.status, answer.problems) == (400, [("restricted", reason)])
    assert (await client.get("/profile"))["restricted"] is False


async def test_users_restrict_themselves_but_do_not_free_themselves(client: Client) -> None:
    other = {"username": "restricting-other", "email": "o@example.com", "restricted": False}
    await client.post("/account/users", other)
    assert (await client.put("/profile", {"restricted": True}))["restricted"] is True
    await until(lambda: client.send("GET", "/account/users"), lambda answer: answer.status == 403)
    assert (await client.put("/profile", {"restricted": True}))["restricted"] is True
    answer = await client.send("PUT", "/profile", {"restricted": False, "timezone": "UTC"})
    assert (answer.status, answer.problems) == (403, [(None, "Unauthorized")])
    profile = await client.get("/profile")
    assert (profile["restricted"], profile["timezone"]) == (True, "GMT")


async def restrict_unseen(roost: Roost, user_id: int, restricted: bool) -> None:
    """As for a request that was under way when its caller was restricted, or freed."""
    await roost.store.execute(
        "update api_user set restricted = $2 where id = $1", user_id, restricted
    )


async def test_a_user_who_was_just_restricted_does_not_free_themself(
    client: Client, roost: Roost, account: Account, new_user: NewUser
) -> None:
    await new_user(account)
    whole = await client.get("/profile")
    await restrict_unseen(roost, account.user_id, True)
    answer = await client.send("PUT", "/profile", whole)
    assert (answer.status, answer.problems) == (403, [(None, "Unauthorized")])
    assert (await client.get("/profile"))["restricted"] is True


async def test_a_user_who_was_just_freed_does_not_become_the_last_who_is_restricted(
    client: Client, roost: Roost, account: Account
) -> None:
    await restrict_unseen(roost, account.user_id, True)
    whole = await client.get("/profile")
    await restrict_unseen(roost, account.user_id, False)
    answer = await client.send("PUT", "/profile", whole)
    assert answer.status == 400
    assert (await client.get("/profile"))["restricted"] is False


async def test_what_does_not_name_restricted_leaves_it(
    client: Client, roost: Roost, account: Account
) -> None:
    await client.get("/profile")
    await restrict_unseen(roost, account.user_id, True)
    assert (await client.put("/profile", {"timezone": "UTC"}))["restricted"] is True


async def test_a_user_who_was_just_renamed_restricts_themself(
    client: Client, roost: Roost, account: Account, new_user: NewUser
) -> None:
    await new_user(account)
    await client.get("/profile")
    await roost.store.execute(
        "update api_user set username = username || '-x' where id = $1", account.user_id
    )
    assert (await client.put("/profile", {"restricted": True}))["restricted"] is True


async def test_of_two_who_restrict_themselves_at_once_one_stays_free(
    client: Client, roost: Roost, account: Account, nobody: Client, new_token: NewToken
) -> None:
    body = {"username": "racing-other", "email": "o@example.com", "restricted": False}
    await client.post("/account/users", body)
    other_id = await roost.store.fetchval(
        "select id from api_user where username = $1", "racing-other"
    )
    other = nobody.as_user(await new_token(Account(account.id, other_id, "racing-other")))
    wish = {"restricted": True}
    answers = await asyncio.gather(*(c.send("PUT", "/profile", wish) for c in (client, other)))
    assert sorted(answer.status for answer in answers) == [200, 400]


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"theme": "dark", "nested": {"list": [1, 2.5, None, True, "x"]}},
        {"gone": None},
        {"model_dump": 1, "model_config": 2, "__class__": 3, "_private": 4, "": 5},
        {"\u00fc": "\u4f60\U0001f600", "big": 2**53, "deep": [[[[]]]]},
        {"padding": "x" * 65_000},
    ],
)
async def test_preferences_are_any_object(client: Client, value: Json) -> None:
    assert await client.get("/profile/preferences") == {}
    await client.put("/profile/preferences", {"former": True})
    assert await client.put("/profile/preferences", value) == value
    assert await client.get("/profile/preferences") == value


@pytest.mark.parametrize(
    ("data", "field", "reason"),
    [
        (b"[]", None, "The body must be a JSON object"),
        (b"5", None, "The body must be a JSON object"),
        (b"{", None, "Invalid JSON"),
        (b'{"a": NaN}', None, "Invalid JSON"),
        (b'{"a": "\\u0000"}', "a", "Must not contain NUL characters"),
        (b'{"a": "' + b"x" * 65_536 + b'"}', None, "Must be at most 65535 bytes of JSON"),
    ],
)
async def test_preferences_that_are_refused(
    client: Client, data: bytes, field: str | None, reason: str
) -> None:
    await client.put("/profile/preferences", {"kept": 1})
    headers = {"Content-Type": "application/json"}
    answer = await client.send("PUT", "/profile/preferences", data=data, headers=headers)
    assert answer.status == 400
    assert answer.problems == [(field, reason)]
    assert await client.get("/profile/preferences") == {"kept": 1}


async def test_grants(
    client: Client, nobody: Client, new_account: NewAccount, new_token: NewToken
) -> None:
    assert (await client.send("GET", "/profile/grants")).status == 204
    restricted = await new_account(restricted=True)
    grants = await nobody.as_user(await new_token(restricted, "events:read_only")).get(
        "/profile/grants"
    )
    assert grants["global"]["account_access"] is None
    assert grants["global"]["add_computes"] is False
    assert grants["compute"] == []
