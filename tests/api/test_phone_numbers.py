"""Phone numbers over HTTP: a code is sent, and proves that the number is the user's."""

import re
from pathlib import Path

import pytest

from roost.app.roost import Roost
from roost.engines.messages.command import CommandSender
from roost.engines.messages.kept import KeptMessages
from roost.resources.phone.engine import MessageError, Messages
from tests.api.conftest import Account
from tests.support.client import Client

PATH = "/profile/phone-number"
NUMBER = {"iso_code": "US", "phone_number": "(215) 555-0142"}
WRONG = [("otp_code", "The code is wrong or has expired: ask for another one")]


@pytest.fixture
def sent(roost: Roost, monkeypatch: pytest.MonkeyPatch) -> KeptMessages:
    """What was sent."""
    kept = KeptMessages()
    services = roost.services
    others = tuple(each for each in services._services if not isinstance(each, Messages))
    monkeypatch.setattr(services, "_services", (*others, Messages(kept)))
    monkeypatch.setattr(services, "_found", {})
    return kept


def code_of(sent: KeptMessages) -> str:
    found = re.fullmatch(r"Your Roost verification code is (\d{6})", sent.messages[-1].text)
    assert found
    return found[1]


def another(code: str) -> str:
    return f"{(int(code) + 1) % 10**6:06}"


async def number_of(client: Client, account: Account) -> object:
    shown = (await client.get("/profile"))["verified_phone_number"]
    assert (await client.get(f"/account/users/{account.username}"))[
        "verified_phone_number"
    ] == shown
    return shown


async def test_a_number_is_verified_by_its_code_and_deleted(
    client: Client, account: Account, sent: KeptMessages
) -> None:
    assert await client.post(PATH, NUMBER) == {}
    assert sent.messages[-1].number == "+12155550142"
    assert await number_of(client, account) is None
    answer = await client.send("POST", f"{PATH}/verify", {"otp_code": another(code_of(sent))})
    assert answer.problems == WRONG
    assert await client.post(f"{PATH}/verify", {"otp_code": code_of(sent)}) == {}
    assert await number_of(client, account) == "+12155550142"
    answer = await client.send("POST", f"{PATH}/verify", {"otp_code": code_of(sent)})
    assert answer.problems == WRONG
    assert await client.delete(PATH) == {}
    assert await number_of(client, account) is None
    events = (await client.get("/account/events"))["data"]
    assert [event["action"] for event in events] == ["profile_update"] * 2


async def test_a_code_is_good_for_five_tries_and_ten_minutes(
    client: Client, stranger: Client, account: Account, roost: Roost, sent: KeptMessages
) -> None:
    await client.post(PATH, NUMBER)
    right = {"otp_code": code_of(sent)}
    for _ in range(5):
        wrong = {"otp_code": another(code_of(sent))}
        assert (await client.send("POST", f"{PATH}/verify", wrong)).problems == WRONG
    assert (await client.send("POST", f"{PATH}/verify", right)).problems == WRONG
    await client.post(PATH, NUMBER)
    await roost.store.execute(
        "update phone_code set expiry = $2 where user_id = $1", account.user_id, roost.clock.now()
    )
    right = {"otp_code": code_of(sent)}
    assert (await client.send("POST", f"{PATH}/verify", right)).problems == WRONG
    assert (await stranger.send("POST", f"{PATH}/verify", right)).problems == WRONG


async def test_the_code_is_kept_nowhere(
    client: Client, account: Account, roost: Roost, sent: KeptMessages
) -> None:
    await client.post(PATH, NUMBER)
    row = await roost.store.fetchrow(
        "select phone_code::text as kept from phone_code where user_id = $1", account.user_id
    )
    assert row is not None
    assert code_of(sent) not in row["kept"]


@pytest.mark.parametrize(
    ("country", "number", "problem"),
    [
        ("us", "2155550142", ("iso_code", "Must be a two-letter ISO 3166 country code")),
        ("", "2155550142", ("iso_code", "Must be a two-letter ISO 3166 country code")),
        ("US", "12", ("phone_number", "Length must be 3-32 characters")),
        ("US", "1" * 33, ("phone_number", "Length must be 3-32 characters")),
        ("US", "+49 30 901820", ("phone_number", "phone_number is not valid")),
        ("US", "215 555", ("phone_number", "phone_number is not valid")),
        ("US", "2155550142 ext. 5", ("phone_number", "phone_number is not valid")),
        ("DE", "call me", ("phone_number", "phone_number is not valid")),
    ],
)
async def test_numbers_that_are_none(
    client: Client, sent: KeptMessages, country: str, number: str, problem: tuple[str, str]
) -> None:
    answer = await client.send("POST", PATH, {"iso_code": country, "phone_number": number})
    assert (answer.status, answer.problems) == (400, [problem])
    assert not sent.messages


async def test_without_a_sender_nothing_is_promised(client: Client) -> None:
    answer = await client.send("POST", PATH, NUMBER)
    assert answer.problems == [("phone_number", "Text messages are not available here")]


async def test_the_operators_program_is_given_number_and_text(tmp_path: Path) -> None:
    program = tmp_path / "send"
    program.write_text(f'#!/bin/sh\n(echo "$1"; cat) > {tmp_path}/sent\n')
    program.chmod(0o700)
    await CommandSender(program).send("+12155550142", "a code; $(date)")
    assert (tmp_path / "sent").read_text() == "+12155550142\na code; $(date)"


@pytest.mark.parametrize(
    ("script", "reason"), [("exit 3", "ended with 3"), (None, "cannot be run: ")]
)
async def test_a_program_that_fails(tmp_path: Path, script: str | None, reason: str) -> None:
    program = tmp_path / "send"
    if script is not None:
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o700)
    with pytest.raises(MessageError, match=reason):
        await CommandSender(program).send("+12155550142", "x")
