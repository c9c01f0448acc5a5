"""Support tickets (spec A, Support; reference: Support ticket, Ticket reply)."""

import hashlib
import json
import re

import pytest

from roost.app.roost import Roost
from roost.core.grant_queries import give
from roost.resources.support import service
from roost.resources.support.records import TicketKind
from tests.api.conftest import Account, NewAccount, NewToken, NewUser
from tests.support.client import Client, Json
from tests.support.instances import made

TICKETS = "/support/tickets"
BODY: dict[str, Json] = {"summary": "No connection", "description": "Since this morning."}
HEX = re.compile(r"[0-9a-f]{32}")
LATER_KINDS = (
    "database_id",
    "domain_id",
    "firewall_id",
    "lkecluster_id",
    "longviewclient_id",
    "nodebalancer_id",
    "volume_id",
    "vpc_id",
)
ONE_ENTITY = "A ticket can be about one entity only"


async def opened(client: Client, **more: Json) -> Json:
    return await client.post(TICKETS, {**BODY, **more})


async def view(client: Client, ticket_id: int) -> Json:
    return await client.get(f"{TICKETS}/{ticket_id}")


async def refused(client: Client, path: str, body: Json) -> list[tuple[str | None, str]]:
    answer = await client.send("POST", path, body)
    assert answer.status == 400, answer.body
    return answer.problems


async def answered(roost: Roost, ticket_id: int, text: str = "We look at it.") -> None:
    async with roost.store.transaction() as db:
        await service.reply_as_staff(db, roost.queue, ticket_id, text, "Mona")


async def closed_by_staff(roost: Roost, ticket_id: int) -> None:
    async with roost.store.transaction() as db:
        await service.close_as_staff(db, roost.queue, ticket_id, "Mona")


async def opened_by_staff(
    roost: Roost, account: Account, kind: TicketKind, closable: bool = False
) -> int:
    async with roost.store.transaction() as db:
        return await service.open_for(
            db, roost.queue, account.id, kind, "A report", "Please look.", "Mona", closable
        )


async def events(client: Client, ticket_id: int) -> list[tuple[str, str | None]]:
    """Action and user, the oldest first."""
    wanted = {"entity.type": "ticket", "entity.id": ticket_id}
    rows = (await client.get("/account/events", filter=wanted))["data"]
    assert all(row["status"] == "notification" for row in rows)
    return [(row["action"], row["username"]) for row in reversed(rows)]


@pytest.mark.spec("A support open", "A support view")
async def test_a_new_ticket(client: Client, account: Account, roost: Roost) -> None:
    email = " Ada@Example.com "
    sql = "update api_user set email = $2 where id = $1"
    await roost.store.execute(sql, account.user_id, email)
    ticket = await opened(client)
    digest = hashlib.md5(b"ada@example.com", usedforsecurity=False).hexdigest()
    assert ticket == {
        "id": ticket["id"],
        "attachments": [],
        "closed": None,
        "closable": True,
        "description": "Since this morning.",
        "entity": None,
        "gravatar_id": digest,
        "opened": ticket["opened"],
        "opened_by": account.username,
        "status": "new",
        "summary": "No connection",
        "updated": ticket["opened"],
        "updated_by": None,
    }
    assert ticket["id"] >= 100_000
    assert await view(client, ticket["id"]) == ticket
    assert await events(client, ticket["id"]) == [("ticket_create", account.username)]
    (event,) = (await client.get("/account/events"))["data"]
    assert event["entity"] == {
        "id": ticket["id"],
        "label": "No connection",
        "type": "ticket",
        "url": f"/v4/support/tickets/{ticket['id']}",
    }


@pytest.mark.spec(
    "A support open",
    "A limits ticket summary",
    "A limits ticket description",
    "A support entity",
    "A support managed",
    "A support managed account",
    "A support vlan",
    "A support region",
)
@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({"summary": None}, [("summary", "summary is required")]),
        ({"summary": ""}, [("summary", "Length must be 1-64 characters")]),
        ({"summary": "x" * 65}, [("summary", "Length must be 1-64 characters")]),
        ({"summary": 7}, [("summary", "Must be a string")]),
        ({"description": None}, [("description", "description is required")]),
        ({"description": ""}, [("description", "Length must be 1-65000 characters")]),
        ({"description": "x" * 65001}, [("description", "Length must be 1-65000 characters")]),
        ({"description": "a\0b"}, [("description", "Must not contain NUL characters")]),
        (
            {"summary": "", "description": "", "compute_id": "1", "region": 5},
            [
                ("summary", "Length must be 1-64 characters"),
                ("description", "Length must be 1-65000 characters"),
                ("compute_id", "Must be an integer"),
                ("region", "Must be a string"),
            ],
        ),
        ({"compute_id": True}, [("compute_id", "Must be an integer")]),
        ({"compute_id": 1.5}, [("compute_id", "Must be an integer")]),
        (
            {"summary": "", "domain_id": 2, "vlan": ""},
            [
                ("summary", "Length must be 1-64 characters"),
                ("domain_id", "domain_id is not valid"),
                ("vlan", "Length must be 1-64 characters"),
            ],
        ),
        ({"managed_issue": 1}, [("managed_issue", "Must be true or false")]),
        (
            {"managed_issue": True},
            [("managed_issue", "This account does not have the managed service")],
        ),
        ({"vlan": "v"}, [("region", "region is required")]),
        ({"vlan": "", "region": "us-lake"}, [("vlan", "Length must be 1-64 characters")]),
        ({"vlan": "v", "region": "nowhere"}, [("region", "region is not valid")]),
        ({"vlan": "none", "region": "us-lake"}, [("vlan", "vlan is not valid")]),
        ({"region": "us-lake"}, [("region", "Must only be given with a VLAN")]),
        ({"compute_id": 0}, [("compute_id", "compute_id is not valid")]),
        ({"compute_id": -1}, [("compute_id", "compute_id is not valid")]),
        ({"compute_id": 999_999_999}, [("compute_id", "compute_id is not valid")]),
        ({"compute_id": 2**63}, [("compute_id", "compute_id is not valid")]),
        *[({field: 100_000}, [(field, f"{field} is not valid")]) for field in LATER_KINDS],
    ],
)
async def test_what_is_refused(
    client: Client, changes: Json, problems: list[tuple[str, str]]
) -> None:
    assert await refused(client, TICKETS, {**BODY, **changes}) == problems
    assert (await client.get(TICKETS))["results"] == 0
    assert (await client.get("/account/events"))["results"] == 0


async def test_null_and_unknown_fields_are_nothing(client: Client) -> None:
    nothing = dict.fromkeys((*LATER_KINDS, "compute_id", "vlan", "region", "managed_issue"))
    ticket = await opened(client, **nothing, severity=1, id=5, status="closed")
    assert (ticket["entity"], ticket["status"]) == (None, "new")
    assert (await opened(client, managed_issue=False))["entity"] is None


@pytest.mark.spec("A support open", "A support entity")
async def test_about_an_instance(client: Client, stranger: Client) -> None:
    compute = await made(client, label="web-1")
    entity = {
        "id": compute["id"],
        "label": "web-1",
        "type": "compute",
        "url": f"/v4/compute/instances/{compute['id']}",
    }
    ticket = await opened(client, compute_id=compute["id"])
    assert ticket["entity"] == entity
    foreign = await refused(stranger, TICKETS, {**BODY, "compute_id": compute["id"]})
    assert foreign == [("compute_id", "compute_id is not valid")]
    await client.delete(f"/compute/instances/{compute['id']}")
    assert (await view(client, ticket["id"]))["entity"] == entity


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"volume_id": 2}, "volume_id"),
        ({"managed_issue": True}, "managed_issue"),
        ({"vlan": "v", "region": "us-lake"}, "vlan"),
    ],
)
async def test_about_one_entity_at_most(client: Client, more: Json, field: str) -> None:
    instance = await made(client)
    body = {**BODY, "compute_id": instance["id"], **more}
    assert await refused(client, TICKETS, body) == [(field, ONE_ENTITY)]


@pytest.mark.spec("A support open", "A support vlan")
async def test_about_a_vlan(client: Client, stranger: Client) -> None:
    interfaces = [{"purpose": "public"}, {"purpose": "vlan", "label": "back-office"}]
    await made(client, interfaces=interfaces, region="us-lake")
    about = {"vlan": "back-office", "region": "us-lake"}
    assert (await opened(client, **about))["entity"] == {
        "id": None,
        "label": "back-office",
        "type": "vlan",
        "url": "/v4/networking/vlans",
    }
    not_valid = [("vlan", "vlan is not valid")]
    assert await refused(client, TICKETS, {**BODY, **about, "region": "br-south"}) == not_valid
    assert await refused(stranger, TICKETS, {**BODY, **about}) == not_valid


@pytest.mark.spec("A support list")
async def test_open_ones_come_first(client: Client, stranger: Client, roost: Roost) -> None:
    ids = [(await opened(client, summary=f"No {n}"))["id"] for n in range(5)]
    await opened(stranger)
    for position in (0, 3):
        await client.post(f"{TICKETS}/{ids[position]}/close")
    await answered(roost, ids[2])
    page = await client.get(TICKETS)
    assert [row["id"] for row in page["data"]] == [ids[n] for n in (1, 2, 4, 0, 3)]
    assert [row["status"] for row in page["data"]] == ["new", "open", "new", "closed", "closed"]
    assert page["data"][0] == await view(client, ids[1])
    still_open = await client.get(TICKETS, filter={"closed": None})
    assert [row["id"] for row in still_open["data"]] == [ids[n] for n in (1, 2, 4)]
    order = {"+order_by": "closed", "+order": "desc"}
    assert (await client.get(TICKETS, filter=order))["results"] == 5
    fresh = await client.get(TICKETS, filter={"status": "new"})
    assert [row["id"] for row in fresh["data"]] == [ids[n] for n in (1, 4)]
    answer = await client.send("GET", TICKETS, headers={"X-Filter": json.dumps({"summary": "x"})})
    assert answer.problems == [("X-Filter", "Cannot filter on summary")]


@pytest.mark.spec("A support replies", "A ticket states", "A support replies list")
async def test_replies(client: Client, account: Account, roost: Roost) -> None:
    ticket_id = (await opened(client))["id"]
    path = f"{TICKETS}/{ticket_id}/replies"
    assert (await client.get(path))["results"] == 0
    mine = await client.post(path, {"description": "It is back."})
    assert mine == {
        "id": mine["id"],
        "created": mine["created"],
        "created_by": account.username,
        "description": "It is back.",
        "friendly_name": account.username,
        "from_compute": False,
        "from_staff": False,
        "gravatar_id": mine["gravatar_id"],
    }
    assert HEX.fullmatch(mine["gravatar_id"])
    ticket = await view(client, ticket_id)
    assert (ticket["status"], ticket["updated_by"]) == ("new", account.username)
    await answered(roost, ticket_id)
    ticket = await view(client, ticket_id)
    assert (ticket["status"], ticket["updated_by"]) == ("open", "Mona")
    rows = (await client.get(path))["data"]
    assert rows[0] == mine
    assert (rows[1]["created_by"], rows[1]["friendly_name"]) == ("Mona", "Mona")
    assert (rows[1]["from_compute"], rows[1]["from_staff"]) == (True, True)
    assert await events(client, ticket_id) == [
        ("ticket_create", account.username),
        ("ticket_update", account.username),
        ("ticket_update", None),
    ]


@pytest.mark.spec("A support replies", "A limits ticket reply")
@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({}, ("description", "description is required")),
        ({"description": ""}, ("description", "Length must be 1-65535 characters")),
        ({"description": "x" * 65536}, ("description", "Length must be 1-65535 characters")),
        ({"description": ["x"]}, ("description", "Must be a string")),
    ],
)
async def test_replies_that_are_refused(
    client: Client, body: Json, problem: tuple[str, str]
) -> None:
    path = f"{TICKETS}/{(await opened(client))['id']}/replies"
    assert await refused(client, path, body) == [problem]
    assert (await client.get(path))["results"] == 0


TEXTS = {
    "ascii": "x" * 65000,
    "astral": "\U0001f600\U00010348" * 32500,
    "combining": "e\u0301\u0323" * 21000,
    "right to left": "\u05e9\u05dc\u05d5\u05dd \u200f\u202e(1)\u202c \u0645\u0631\u062d\u0628",
    "line ends": "a\r\nb\nc\rd\u2028e\u2029f\x0b\x0c\x85",
    "controls": "".join(map(chr, [*range(1, 32), *range(127, 160)])),
    "whitespace": " \t\n ",
    "markup": "<script>alert('x')</script> {{7*7}} %s %% \\ \" ' ;-- \\u0041",
    "unnormalised": "\ufb01\u212b\u1e9b\u0323 \u00c5 A\u030a",
    "nonchars": "\ufffe\uffff\ufeff\U0010ffff\ufdd0",
    "families": "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
}


@pytest.mark.spec("A limits ticket summary", "A limits ticket description")
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
async def test_any_text_comes_back_unchanged(client: Client, text: str) -> None:
    summary = text[:64]
    ticket = await opened(client, summary=summary, description=text)
    assert (ticket["summary"], ticket["description"]) == (summary, text)
    assert (await view(client, ticket["id"])) == ticket
    path = f"{TICKETS}/{ticket['id']}/replies"
    for escaped in (True, False):
        data = json.dumps({"description": text}, ensure_ascii=escaped).encode()
        headers = {"Content-Type": "application/json"}
        reply = await client.send("POST", path, data=data, headers=headers)
        assert (reply.status, reply.body["description"]) == (200, text)
    rows = (await client.get(path))["data"]
    assert [row["description"] for row in rows] == [text, text]
    (event,) = (await client.get("/account/events", filter={"action": "ticket_create"}))["data"]
    assert event["entity"]["label"] == summary


@pytest.mark.parametrize("field", ["summary", "description"])
@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (b'"\xff"', "Must be valid UTF-8"),
        (b'"caf\xe9"', "Must be valid UTF-8"),
        (b'"\xed\xa0\x80"', "Must be valid UTF-8"),
        (b'"\xc0\xaf"', "Must be valid UTF-8"),
        (b'"\\ud800"', "Must be valid UTF-8"),
        (b'"\\udc00\\ud800"', "Must be valid UTF-8"),
        (b'"a\x00b"', "Must not contain NUL characters"),
        (b'"a\\u0000b"', "Must not contain NUL characters"),
    ],
)
async def test_broken_text_names_its_field(
    client: Client, field: str, broken: bytes, reason: str
) -> None:
    texts = {"summary": b'"x"', "description": b'"x"', field: broken}
    data = b"{" + b",".join(b'"%s":%s' % (k.encode(), v) for k, v in texts.items()) + b"}"
    headers = {"Content-Type": "application/json"}
    answer = await client.send("POST", TICKETS, data=data, headers=headers)
    assert (answer.status, answer.problems) == (400, [(field, reason)])
    assert (await client.get(TICKETS))["results"] == 0


@pytest.mark.spec("A support close", "A ticket states")
async def test_closing(client: Client, account: Account) -> None:
    ticket_id = (await opened(client))["id"]
    assert await client.post(f"{TICKETS}/{ticket_id}/close") == {}
    ticket = await view(client, ticket_id)
    assert (ticket["status"], ticket["closable"]) == ("closed", False)
    assert ticket["closed"] == ticket["updated"] >= ticket["opened"]
    assert ticket["updated_by"] == account.username
    assert (await events(client, ticket_id))[1:] == [("ticket_update", account.username)]
    is_closed = [(None, "This ticket is closed.")]
    assert await refused(client, f"{TICKETS}/{ticket_id}/close", {}) == is_closed
    reply = {"description": "One more thing."}
    assert await refused(client, f"{TICKETS}/{ticket_id}/replies", reply) == is_closed
    assert await view(client, ticket_id) == ticket


@pytest.mark.spec("A support close")
async def test_only_closable_ones_are_closed(
    client: Client, account: Account, roost: Roost
) -> None:
    held = await opened_by_staff(roost, account, "abuse")
    assert (await view(client, held))["closable"] is False
    only_staff = [(None, "This ticket can only be closed by support.")]
    assert await refused(client, f"{TICKETS}/{held}/close", {}) == only_staff
    await closed_by_staff(roost, held)
    assert (await view(client, held))["status"] == "closed"
    free = await opened_by_staff(roost, account, "support", closable=True)
    ticket = await view(client, free)
    assert (ticket["opened_by"], ticket["closable"]) == ("Mona", True)
    assert await events(client, free) == [("ticket_create", None)]
    await client.post(f"{TICKETS}/{free}/close")


@pytest.mark.spec("B account notifications")
async def test_notifications(client: Client, account: Account, roost: Roost) -> None:
    """Of open tickets that staff opened as important, or as abuse."""
    ids = {
        kind: await opened_by_staff(roost, account, kind)
        for kind in ("important", "abuse", "support")
    }
    rows = (await client.get("/account/notifications"))["data"]
    tickets = {row["type"]: row for row in rows if row["type"].startswith("ticket")}
    assert set(tickets) == {"ticket_important", "ticket_abuse"}
    assert tickets["ticket_abuse"] == {
        "entity": {
            "id": ids["abuse"],
            "label": "A report",
            "type": "ticket",
            "url": f"/v4/support/tickets/{ids['abuse']}",
        },
        "label": "You have an open abuse ticket!",
        "message": "You have an open abuse ticket!",
        "body": None,
        "type": "ticket_abuse",
        "severity": "major",
        "when": None,
        "until": None,
    }
    await closed_by_staff(roost, ids["abuse"])
    await closed_by_staff(roost, ids["important"])
    left = (await client.get("/account/notifications"))["data"]
    assert not [row for row in left if row["type"].startswith("ticket")]


@pytest.mark.spec("A support restricted")
async def test_restricted_users(
    client: Client,
    account: Account,
    nobody: Client,
    roost: Roost,
    new_user: NewUser,
    new_token: NewToken,
) -> None:
    """The account's access decides; a ticket is only about what they may see."""
    user = await new_user(account, restricted=True)
    restricted = nobody.as_user(await new_token(user))
    shown, hidden = (await made(client))["id"], (await made(client))["id"]
    await give(roost.store, user.user_id, "compute", shown, "read_only")
    ticket_id = (await opened(client, compute_id=hidden))["id"]
    calls = ("GET", TICKETS), ("GET", f"{TICKETS}/{ticket_id}"), ("POST", TICKETS)

    async def statuses() -> list[int]:
        return [
            (await restricted.send(m, p, BODY if m == "POST" else None)).status for m, p in calls
        ]

    access = "update api_user set account_access = $2 where id = $1"
    assert await statuses() == [403, 403, 403]
    await roost.store.execute(access, user.user_id, "read_only")
    restricted = nobody.as_user(await new_token(user))
    assert await statuses() == [200, 200, 403]
    await roost.store.execute(access, user.user_id, "read_write")
    restricted = nobody.as_user(await new_token(user))
    assert await statuses() == [200, 200, 200]
    assert (await opened(restricted, compute_id=shown))["entity"]["id"] == shown
    for compute_id in (hidden, 999_999_999):
        answer = await restricted.send("POST", TICKETS, {**BODY, "compute_id": compute_id})
        assert answer.status == 403


async def test_the_same_key_opens_one_ticket(
    nobody: Client, new_account: NewAccount, new_token: NewToken
) -> None:
    client = nobody.as_user(await new_token(await new_account()))
    headers = {"Idempotency-Key": "once"}
    first = await client.send("POST", TICKETS, BODY, headers)
    again = await client.send("POST", TICKETS, BODY, headers)
    assert first.raw == again.raw
    assert first.headers["X-RateLimit-Limit"] == "2"
    assert (await client.get(TICKETS))["results"] == 1


@pytest.mark.spec("A limits ticket reply")
async def test_the_longest_reply(client: Client) -> None:
    path = f"{TICKETS}/{(await opened(client))['id']}/replies"
    for text in ("x", "x" * 65535):
        assert (await client.post(path, {"description": text}))["description"] == text
