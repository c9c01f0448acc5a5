"""`roost account` and `roost user`, beside a server."""

import asyncio
import uuid
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from roost.app.state import open_store
from roost.cli import main
from roost.clock import Clock
from roost.resources.account.queries import find_user
from roost.resources.devices.service import remember_device
from roost.secrets import verify_password
from roost.settings import Settings
from tests.cli.process import Json, Server, ran, wait_until

PASSWORD = "correct-Horse7battery"


def invoke(server: Server, *arguments: str, text: str = "") -> Result:
    """In this process, which takes a tenth of the time of another one."""
    return CliRunner().invoke(main, [*arguments, "--state", str(server.state)], input=text)


def told(server: Server, *arguments: str, text: str = "") -> str:
    """What a command prints that must succeed."""
    done = invoke(server, *arguments, text=text)
    assert done.exit_code == 0, done.stderr
    return done.stdout.strip()


def opened(server: Server, *options: str) -> tuple[str, str, str]:
    """Id, user and token of a new account."""
    lines = told(server, "account", "create", *options).splitlines()
    names, values = zip(*(line.split(" ") for line in lines), strict=True)
    assert names == ("account", "user", "token")
    account_id, user, token = values
    return account_id, user, token


def listed(server: Server, account_id: str) -> list[str]:
    lines = told(server, "account", "list").splitlines()
    head = ("ID", "PARENT", "ID", "USERS", "CREATED", "SUSPENDED", "EMAIL", "COMPANY")
    assert tuple(lines[0].split()) == head
    return next(line.split() for line in lines if line.startswith(account_id))


def fetch(server: Server, path: str, token: str) -> Json:
    status, body = server.send("GET", path, token=token)
    assert status == 200, body
    return body


async def value(state: Path, query: str, *args: object) -> object:
    async with open_store(Settings(state=state)) as store:
        found: object = await store.fetchval(query, *args)
        return found


def test_a_new_account_can_be_used_at_once(server: Server) -> None:
    user = f"ada-{uuid.uuid4().hex[:8]}"
    options = ("--email", "ada@example.com", "--company", "Heron", "--user", user)
    account_id, name, token = opened(server, *options)
    assert (name, len(account_id), len(token)) == (user, 6, 64)
    row = fetch(server, "/account", token)
    assert (row["email"], row["company"]) == ("ada@example.com", "Heron")
    (theirs,) = fetch(server, "/account/users", token)["data"]
    assert (theirs["username"], theirs["email"]) == (user, "ada@example.com")
    assert (theirs["restricted"], theirs["user_type"]) == (False, "default")
    own, parent, users, _, suspended, email, company = listed(server, account_id)
    assert suspended == "-"
    assert (own, parent, users, email, company) == (
        account_id,
        "-",
        "1",
        "ada@example.com",
        "Heron",
    )
    again = invoke(server, "account", "create", *options)
    assert (again.exit_code, again.stdout) == (1, "")
    assert f"the username {user} is taken" in again.stderr


def test_the_first_user_has_a_name_by_default(server: Server) -> None:
    account_id, user, token = opened(server, "--email", "a@example.com")
    assert user == f"admin-{account_id}"
    assert fetch(server, "/account", token)["company"] == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "Missing option '--email'"),
        (("--email", "nonsense"), "Invalid value for --email: Must be an email address"),
        (("--email", "a@example.com", "--company", "<b>"), "Invalid value for --company"),
        (("--email", "a@example.com", "--user", "a b"), "Invalid value for --user"),
        (("--email", "a@example.com", "--user", ""), "Invalid value for --user"),
    ],
)
def test_refusals(server: Server, options: tuple[str, ...], message: str) -> None:
    done = invoke(server, "account", "create", *options)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stdout == ""


@pytest.mark.spec("B account 3", "B account 4")
def test_parent_and_child(server: Server) -> None:
    parent, _, parent_token = opened(server, "--email", "parent@example.com")
    child, _, child_token = opened(server, "--email", "child@example.com")
    assert fetch(server, "/account", child_token)["email"] == "child@example.com"
    proxy = ran("account", "parent", child, parent, "--state", server.state)
    assert proxy.startswith(f"proxy-{child}-")
    assert [listed(server, account)[1] for account in (child, parent)] == [parent, "-"]
    users = {u["username"]: u for u in fetch(server, "/account/users", child_token)["data"]}
    assert users[proxy]["email"] == "parent@example.com"
    types = {user["user_type"] for user in users.values()}
    assert (users[proxy]["user_type"], types) == ("proxy", {"proxy", "child"})
    (head,) = fetch(server, "/account/users", parent_token)["data"]
    assert head["user_type"] == "parent"

    assert server.send("PUT", "/account", {}, token=child_token)[0] == 403
    assert server.send("PUT", "/account", {}, token=parent_token)[0] == 200


def test_the_managed_service_is_ended(server: Server) -> None:
    account, _, token = opened(server, "--email", "managed@example.com")
    assert server.send("POST", "/account/settings/managed-enable", {}, token=token)[0] == 200
    for state, has in (("off", False), ("off", False), ("on", True)):
        assert told(server, "account", "managed", account, state) == ""
        assert fetch(server, "/account/settings", token)["managed"] is has
    actions = [event["action"] for event in fetch(server, "/account/events", token)["data"]]
    assert actions == ["managed_enabled", "managed_disabled", "managed_enabled"]
    assert "there is no account 1" in invoke(server, "account", "managed", "1", "on").stderr


def test_who_owes_what_a_child_uses(server: Server) -> None:
    child, parent = (opened(server, "--email", "a@example.com")[0] for _ in range(2))
    done = invoke(server, "account", "payer", child, "parent")
    assert (done.exit_code, done.stdout) == (1, "")
    assert f"account {child} is no child of another" in done.stderr
    told(server, "account", "parent", child, parent)
    query = "select parent_pays from account where id = $1"
    for who, pays in (("parent", True), ("itself", False)):
        assert told(server, "account", "payer", child, who) == ""
        assert asyncio.run(value(server.state, query, int(child))) is pays
    assert invoke(server, "account", "payer", child, "nobody").exit_code == 2


def test_families_have_two_levels(server: Server) -> None:
    one, two, three, four = (opened(server, "--email", "a@example.com")[0] for _ in range(4))
    told(server, "account", "parent", two, one)
    for child, parent, message in (
        (one, one, "an account can't be its own parent"),
        (three, "999999999", "there is no account 999999999"),
        ("999999999", three, "there is no account 999999999"),
        (two, three, f"account {two} is a child of account {one}"),
        (two, one, f"account {two} is a child of account {one}"),
        (three, two, f"account {two} is a child of account {one}"),
        (one, three, f"account {one} has children"),
    ):
        done = invoke(server, "account", "parent", child, parent)
        assert (done.exit_code, done.stdout) == (1, "")
        assert message in done.stderr
    assert [listed(server, account)[1] for account in (one, two, three)] == ["-", one, "-"]
    told(server, "account", "parent", four, one)
    assert [listed(server, account)[2] for account in (one, two, three, four)] == list("1212")


def test_password(server: Server) -> None:
    _, user, token = opened(server, "--email", "a@example.com")
    assert told(server, "user", "password", user, text=PASSWORD + "\n") == ""
    query = "select password_hash from api_user where username = $1"
    hashed = asyncio.run(value(server.state, query, user))
    assert isinstance(hashed, str)
    assert hashed.startswith("$argon2id$")
    assert verify_password(hashed, PASSWORD)
    assert fetch(server, f"/account/users/{user}", token)["password_created"] is not None


async def factor_and_devices(state: Path, user: str) -> tuple[bool, int]:
    """Whether a user has a second factor, and how many devices they trust."""
    enabled = await value(state, "select tfa_enabled from api_user where username = $1", user)
    count = await value(
        state,
        "select count(*) from trusted_device d join api_user u on u.id = d.user_id"
        " where u.username = $1",
        user,
    )
    assert isinstance(enabled, bool)
    assert isinstance(count, int)
    return enabled, count


async def protect(state: Path, user: str) -> None:
    """Give a user a second factor and a device that they trust."""
    async with open_store(Settings(state=state)) as store:
        user_id = await find_user(store, user)
        assert user_id is not None
        await store.execute("update api_user set tfa_enabled = true where id = $1", user_id)
        await remember_device(store, user_id, "browser", "192.0.2.1", Clock().now())


def test_a_new_password_ends_trust_in_devices(server: Server) -> None:
    _, user, _ = opened(server, "--email", "a@example.com")
    asyncio.run(protect(server.state, user))
    assert asyncio.run(factor_and_devices(server.state, user)) == (True, 1)
    told(server, "user", "password", user.upper(), text=PASSWORD + "\n")
    assert asyncio.run(factor_and_devices(server.state, user)) == (True, 0)


def test_a_user_who_has_lost_the_second_factor(server: Server) -> None:
    _, user, token = opened(server, "--email", "a@example.com")
    asyncio.run(protect(server.state, user))
    assert fetch(server, "/profile", token)["two_factor_auth"] is True
    assert told(server, "user", "tfa-disable", user) == ""
    assert asyncio.run(factor_and_devices(server.state, user)) == (False, 0)
    assert fetch(server, "/profile", token)["two_factor_auth"] is False
    done = invoke(server, "user", "tfa-disable", "nobody")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "there is no user nobody" in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Length must be 8-128 characters"),
        ("1234567\n", "Length must be 8-128 characters"),
        ("x" * 129, "Length must be 8-128 characters"),
        ("password1\n", "Password does not meet strength requirement"),
    ],
)
def test_weak_passwords(server: Server, text: str, message: str) -> None:
    _, user, token = opened(server, "--email", "a@example.com")
    done = invoke(server, "user", "password", user, text=text)
    assert (done.exit_code, done.stdout) == (1, "")
    assert message in done.stderr
    assert not text.strip() or text.strip() not in done.stderr
    assert fetch(server, f"/account/users/{user}", token)["password_created"] is None


def test_password_of_nobody_and_of_a_proxy_user(server: Server) -> None:
    child, parent = (opened(server, "--email", "a@example.com")[0] for _ in range(2))
    proxy = told(server, "account", "parent", child, parent)
    for user in ("nobody", proxy):
        done = invoke(server, "user", "password", user, text=PASSWORD)
        assert done.exit_code == 1
        assert f"there is no user {user} who could log in" in done.stderr


def limit(server: Server, account_id: str, name: str) -> list[str]:
    lines = told(server, "account", "limit", "show", account_id).splitlines()
    assert lines[0].split() == ["LIMIT", "USED", "ALLOWED", "SET", "BY"]
    return next(line.split()[1:] for line in lines if line.split()[0] == name)


def test_an_operator_raises_a_limit_and_takes_it_back(server: Server) -> None:
    account_id, _, token = opened(server, "--email", "ada@example.com")
    assert limit(server, account_id, "users") == ["1", "500", "catalogue"]
    told(server, "account", "limit", "set", account_id, "tags", "1")
    assert limit(server, account_id, "tags") == ["0", "1", "account"]
    answers = [
        server.send("POST", "/tags", token=token, body={"label": label}) for label in ("one", "two")
    ]
    assert [status for status, _ in answers] == [200, 400]
    told(server, "account", "limit", "set", account_id, "users", "2")
    told(server, "account", "limit", "reset", account_id, "tags")
    assert limit(server, account_id, "tags") == ["1", "5000", "catalogue"]
    assert limit(server, account_id, "users") == ["1", "2", "account"]
    told(server, "account", "limit", "set", account_id, "tags", "unlimited")
    assert limit(server, account_id, "tags") == ["1", "unlimited", "account"]
    assert server.send("POST", "/tags", token=token, body={"label": "three"})[0] == 200
    told(server, "account", "limit", "reset", account_id)
    assert limit(server, account_id, "users") == ["1", "500", "catalogue"]


def test_limits_are_of_accounts_and_things_that_exist(server: Server) -> None:
    for words in (("show", "1"), ("set", "1", "tags", "5"), ("reset", "1")):
        done = invoke(server, "account", "limit", *words)
        assert (done.exit_code, "there is no account 1" in done.stderr) == (1, True)
    assert invoke(server, "account", "limit", "set", "1", "clouds", "5").exit_code == 2
    assert invoke(server, "account", "limit", "set", "1", "tags", "-1").exit_code == 2


def test_canceled_accounts_are_listed(server: Server) -> None:
    account_id, _, token = opened(server, "--email", "gone@example.com")
    body = {"comments": "Thank\nyou, \x1b[31mbye."}
    status, answer = server.send("POST", "/account/cancel", body, token=token)
    assert (status, answer) == (200, {"survey_link": ""})
    assert server.send("GET", "/account", token=token)[0] == 401

    def row() -> list[str]:
        lines = told(server, "account", "canceled").splitlines()
        assert lines[0].split() == [
            *("ID", "CANCELED", "CLOSED", "ERASED", "BALANCE", "HAS", "COMMENTS")
        ]
        return next(line.split() for line in lines if line.startswith(account_id))

    wait_until(lambda: row()[2] != "-")
    assert row()[3:] == ["-", "0.00", "-", "Thank", "you,", r"\x1b[31mbye."]


def test_an_account_is_suspended_and_goes_on(server: Server) -> None:
    account_id, _, token = opened(server, "--email", "s@example.com")
    told(server, "account", "suspend", account_id, "--reason", "a breach of the rules")
    assert listed(server, account_id)[4] == "operator"
    notices = fetch(server, "/account/notifications", token)["data"]
    assert "a breach of the rules" in [each["body"] for each in notices]
    told(server, "account", "resume", account_id)
    assert listed(server, account_id)[4] == "-"
    again = invoke(server, "account", "resume", account_id)
    assert (again.exit_code, again.stdout) == (1, "")
    assert f"account {account_id} is not suspended" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("suspend", "100000"), "Missing option '--reason'"),
        (("suspend", "100000", "--reason", " "), "Invalid value for --reason"),
        (("suspend", "100000", "--reason", "x" * 501), "must be 1-500 characters"),
        (("suspend", "none", "--reason", "x"), "Invalid value"),
        (("resume", "0"), "Invalid value"),
    ],
)
def test_suspensions_that_make_no_sense(
    server: Server, arguments: tuple[str, ...], message: str
) -> None:
    done = invoke(server, "account", *arguments)
    assert done.exit_code == 2
    assert message in done.stderr


def test_an_account_that_does_not_exist_is_not_suspended(server: Server) -> None:
    done = invoke(server, "account", "suspend", "999999999", "--reason", "x")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "there is no account 999999999" in done.stderr
