"""Whose a name is: unique on the platform, and no account within or above another's."""

import asyncio

import pytest

from roost.resources.domains.service import FOREIGN, TAKEN
from tests.api.conftest import Account
from tests.support.client import Client, Json
from tests.support.resolving import told

pytestmark = pytest.mark.spec("B domain record unique")


def body(name: str) -> Json:
    return {"domain": name, "type": "master", "soa_email": "me@example.com"}


async def problems(client: Client, name: str, path: str = "/domains") -> Json:
    return (await client.send("POST", path, body(name))).problems


async def test_two_accounts(client: Client, stranger: Client, account: Account) -> None:
    base = f"owned-{account.id}.example"
    await client.post("/domains", body(f"b.{base}"))
    assert await problems(client, f"B.{base}") == [("domain", TAKEN)]
    for name, reason in (
        (f"b.{base}", TAKEN),
        (f"B.{base.upper()}", TAKEN),
        (f"a.b.{base}", FOREIGN),
        (f"x.a.b.{base}", FOREIGN),
        (base, FOREIGN),
    ):
        assert await problems(stranger, name) == [("domain", reason)]
    for name in (f"xb.{base}", f"b-{base}", f"c.{base}", f"b_.{base}"):
        await stranger.post("/domains", body(name))
    for name in (f"a.b.{base}", f"x.a.b.{base}"):
        await client.post("/domains", body(name))
    # The stranger has zones within it by now.
    assert await problems(client, base) == [("domain", FOREIGN)]


async def test_other_ways_to_a_name(client: Client, stranger: Client, account: Account) -> None:
    base = f"ways-{account.id}.example"
    await client.post("/domains", body(base))
    other = await stranger.post("/domains", body(f"their-{base}"))
    path = f"/domains/{other['id']}"
    for name, reason in ((base, TAKEN), (f"a.{base}", FOREIGN)):
        for method, where in (("PUT", path), ("POST", f"{path}/clone")):
            answer = await stranger.send(method, where, {"domain": name})
            assert answer.problems == [("domain", reason)]
        sent = {"domain": name, "zone_file": ""}
        answer = await stranger.send("POST", "/domains/import", sent)
        assert answer.problems == [("domain", reason)]
    renamed = await stranger.put(path, {"domain": f"sub.their-{base}"})
    assert renamed["domain"] == f"sub.their-{base}"


async def test_a_name_is_free_again(client: Client, stranger: Client, account: Account) -> None:
    name = f"free-{account.id}.example"
    domain = await client.post("/domains", body(name))
    await client.delete(f"/domains/{domain['id']}")
    again = await stranger.post("/domains", body(name))
    assert {e["status"] for e in await told(stranger)} == {"finished"}
    assert {e["status"] for e in await told(client)} <= {"finished", "failed"}
    record = {"type": "A", "target": "192.0.2.1"}
    await stranger.post(f"/domains/{again['id']}/records", record)
    assert {e["status"] for e in await told(stranger)} == {"finished"}


@pytest.mark.parametrize("relation", ["", "sub."])
async def test_one_winner(
    client: Client, stranger: Client, account: Account, relation: str
) -> None:
    """Of two accounts that want related names at the same time."""
    for number in range(6):
        name = f"race{number}-{relation.strip('.')}{account.id}.example"
        wanted = [(client, name), (stranger, f"{relation}{name}")] * 2
        made = await asyncio.gather(
            *(who.send("POST", "/domains", body(what)) for who, what in wanted)
        )
        assert [answer.status for answer in made].count(200) == 1
        for answer in made:
            assert answer.status == 200 or answer.problems[0][1] in (TAKEN, FOREIGN)
