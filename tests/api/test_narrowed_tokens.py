"""Narrowed tokens over HTTP (docs/tokens.md)."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.core.narrowing.chain import add_link
from roost.ids import new_uuid
from roost.resources.events.stream_service import Streams
from roost.resources.tokens.queries import list_tokens, revoke_token
from roost.web.grants import Global, Listed, OnEntity
from roost.web.narrowing import COPIES, CREATED, PARAMETERS, closed, named_in
from roost.web.registry import Registry
from roost.web.revocation import settle
from roost.web.routing import path_params
from tests.api.conftest import Account, NewAccount, NewToken
from tests.api.doors import knock
from tests.api.samples.databases import SAMPLES as DATABASES
from tests.api.samples.paths import missing_path
from tests.support.client import Answer, Client
from tests.support.firewalls import guarded
from tests.support.instances import INSTANCES, made
from tests.support.narrowing import narrowed, refused
from tests.support.nodebalancers import balancer
from tests.support.server import RunningRoost
from tests.support.streams import reading
from tests.support.volumes import VOLUMES
from tests.support.vpcs import inside, made_vpc

ENDPOINTS = tuple(Registry(GROUPS.endpoints))
KINDS = (
    *("compute", "volume", "database", "domain", "firewall", "image", "nodebalancer"),
    *("stackscript", "vpc"),
)
ELSEWHERE = {"entities": {kind: [123_456_789] for kind in KINDS}}
"""Entities of no account."""


async def test_reading_alone(client: Client) -> None:
    child = narrowed(client, {"read_only": True})
    assert await child.get(VOLUMES) == await client.get(VOLUMES)
    answer = await child.send("POST", VOLUMES, {"label": "data", "region": "us-lake"})
    assert refused(answer, "read_only")
    assert (await client.get(VOLUMES))["results"] == 0


async def test_some_operations_and_methods_alone(client: Client) -> None:
    child = narrowed(client, {"operations": ["list_volumes", "create_volume"]})
    assert (await child.get(VOLUMES))["results"] == 0
    row = await child.post(VOLUMES, {"label": "data", "region": "us-lake"})
    answer = await child.send("GET", f"{VOLUMES}/{row['id']}")
    assert refused(answer, "operations")
    assert refused(await child.send("GET", "/regions"), "operations")
    again = narrowed(child, {"methods": ["GET"]})
    assert (await again.get(VOLUMES))["results"] == 1
    assert refused(await again.send("POST", VOLUMES, {}), "methods")
    assert (await again.send("HEAD", VOLUMES)).status == 200


async def test_callers_of_some_networks_alone(client: Client) -> None:
    inside = narrowed(client, {"networks": ["127.0.0.0/8", "::1/128"]})
    assert (await inside.send("GET", VOLUMES)).status == 200
    outside = narrowed(inside, {"networks": ["192.0.2.0/24"]})
    headers = {"X-Forwarded-For": "192.0.2.7", "Forwarded": "for=192.0.2.7"}
    assert refused(await outside.send("GET", VOLUMES, headers=headers), "networks")
    assert refused(await outside.send("GET", "/profile/explain?path=/volumes"), "networks")


async def test_an_end_of_its_own(client: Client, roost: Roost) -> None:
    now = roost.clock.seconds()
    later, before = (now + timedelta(days=days) for days in (1, -1))
    child = narrowed(client, {"expires": later.isoformat()})
    assert (await child.send("GET", VOLUMES)).status == 200
    for over in (
        narrowed(child, {"expires": before.isoformat()}),
        narrowed(client, {"expires": before.isoformat()}, {"expires": later.isoformat()}),
    ):
        answer = await over.send("GET", VOLUMES)
        assert (answer.status, answer.problems) == (401, [(None, "Invalid Token")])


async def test_the_end_of_the_token_is_that_of_its_children(
    nobody: Client, account: Account, new_token: NewToken, roost: Roost
) -> None:
    over = await new_token(account, expiry=roost.clock.seconds() - timedelta(days=1))
    later = roost.clock.seconds() + timedelta(days=1)
    child = narrowed(nobody.as_user(over), {"expires": later.isoformat()})
    assert (await child.send("GET", VOLUMES)).status == 401


async def test_a_restriction_that_is_not_known_here_is_refused(client: Client) -> None:
    assert client.token is not None
    child = client.as_user(add_link(client.token, b'{"read_only":true,"moon":"full"}'))
    answer = await child.send("GET", VOLUMES)
    assert answer.status == 401
    assert answer.problems == [(None, "Invalid Token: its restriction moon is not known")]


async def test_texts_that_are_no_tokens(client: Client, stranger: Client) -> None:
    good = narrowed(client, {"read_only": True}).token
    other = narrowed(stranger, {"read_only": True}).token
    assert good is not None
    assert other is not None
    mixed = ".".join((*good.split(".")[:2], *other.split(".")[2:]))
    for text in (good[:-1], good + "A", mixed, good.replace("roost1", "roost2"), "roost1."):
        answer = await client.as_user(text).send("GET", VOLUMES)
        assert (answer.status, answer.problems) == (401, [(None, "Invalid Token")])
    assert (await client.as_user(good).send("GET", VOLUMES)).status == 200


async def test_scopes_and_grants_hold_too(
    nobody: Client, account: Account, new_account: NewAccount, new_token: NewToken
) -> None:
    scoped = nobody.as_user(await new_token(account, "volumes:read_only"))
    child = narrowed(scoped, {"operations": ["create_volume", "list_instances"]})
    assert (await child.send("POST", VOLUMES, {})).status == 401
    assert (await child.send("GET", INSTANCES)).status == 401
    user = nobody.as_user(await new_token(await new_account(restricted=True)))
    child = narrowed(user, {"operations": ["create_volume"]})
    answer = await child.send("POST", VOLUMES, {"label": "data", "region": "us-lake"})
    assert (answer.status, answer.problems) == (403, [(None, "Unauthorized")])


async def test_the_end_of_a_token_ends_its_children_at_once(
    client: Client, account: Account, roost: Roost
) -> None:
    child = narrowed(client, {"read_only": True})
    grandchild = narrowed(child, {"methods": ["GET"]})
    for each in (child, grandchild):
        assert (await each.send("GET", VOLUMES)).status == 200
    (token_id,) = [t.id for t in await list_tokens(roost.store) if t.username == account.username]
    assert await revoke_token(roost.store, token_id, roost.clock.seconds())
    await settle(roost.store)
    for each in (child, grandchild, narrowed(client, {"read_only": True})):
        assert (await each.send("GET", VOLUMES)).status == 401


async def test_an_open_wait_and_stream_end_with_the_token(
    client: Client,
    nobody: Client,
    running: RunningRoost,
    account: Account,
    new_token: NewToken,
) -> None:
    """Those of a child, when its parent is deleted by another token."""
    row = await made(client)
    other = nobody.as_user(await new_token(account))
    child = narrowed(other, {"read_only": True})
    tokens = (await client.get("/profile/tokens"))["data"]
    assert other.token is not None
    (token_id,) = [each["id"] for each in tokens if other.token.startswith(each["token"])]
    waiting = asyncio.create_task(child.send("GET", f"{INSTANCES}/{row['id']}?wait=30"))
    async with reading(running.url, child.token) as reader:
        await client.delete(f"/profile/tokens/{token_id}")
        await client.post("/tags", {"label": "late"})
        while (message := await reader.next()) is not None:
            assert message.data is None or message.data["action"] != "tag_create"
    assert (await child.send("GET", VOLUMES)).status == 401
    assert (await waiting).status == 401


async def test_a_stream_stays_as_narrow_as_it_was(
    client: Client, nobody: Client, running: RunningRoost, account: Account, new_token: NewToken
) -> None:
    """Also when another token's end makes the server look at its own anew."""
    later = (datetime.now(UTC) + timedelta(days=1)).replace(tzinfo=None, microsecond=0)
    child = narrowed(client, {"read_only": True, "expires": later.isoformat()})
    other = nobody.as_user(await new_token(account))
    assert other.token is not None
    tokens = (await client.get("/profile/tokens"))["data"]
    (token_id,) = [each["id"] for each in tokens if other.token.startswith(each["token"])]
    streams = running.roost.services.get(Streams)
    async with reading(running.url, child.token) as reader:
        await client.delete(f"/profile/tokens/{token_id}")
        await client.post("/tags", {"label": "told"})
        assert await reader.event()
        (open_,) = streams._by_account[account.id]
        assert open_.identity.narrowing is not None
        assert open_.identity.expiry == later


async def test_no_narrowed_token_makes_what_is_not_narrowed(client: Client, roost: Roost) -> None:
    """Each change of the account and the profile, and each key, is refused, and explained."""
    child = narrowed(client, {"methods": ["GET", "POST", "PUT", "DELETE"]})
    shut = [each for each in ENDPOINTS if closed(each) is not None]
    assert {
        *("create_token", "create_user", "update_user", "update_user_grants", "update_profile"),
        *("create_proxy_token", "create_oauth_client", "reset_oauth_client_secret", "disable_tfa"),
        *("add_ssh_key", "create_webhook", "rotate_webhook_secret", "create_object_key"),
        *("create_object_url", "upload_image", "create_service_transfer"),
        *("answer_security_questions", "verify_phone_number", "revoke_authorized_app"),
    } <= {each.name for each in shut}
    for each in shut:
        answer = await knock(each, child)
        reason = closed(each)
        if "default" not in each.refuses:
            assert reason is not None
            assert refused(answer, reason), each.name
        else:
            assert answer.status == 403
    assert (await client.get("/profile/tokens"))["results"] == 1


NOT_OF_ENTITIES = {
    "explain_request": "tells what a token may",
    "list_events": "shows those of what is left",
    "stream_events": "shows those of what is left",
    "view_event": "finds none of another entity",
    "send_batch": "each read is looked at by itself",
}
"""Operations that a token narrowed to other entities may call, beside lists of what is left to it,
the making of entities, which are looked at when they are made, and what everybody may see."""


@pytest.fixture
async def full(client: Client) -> Client:
    """Of an account that has something of each kind of list."""
    vpc = await made_vpc(client)
    await client.post(
        "/networking/ipv6/ranges",
        {"compute_id": (await made(client, interfaces=[inside(vpc)]))["id"], "prefix_length": 64},
    )
    await client.post(VOLUMES, {"label": "data", "region": "us-lake"})
    await client.post(
        "/domains",
        {"domain": f"{new_uuid()}.example", "type": "master", "soa_email": "a@b.example"},
    )
    await guarded(client)
    await balancer(client)
    return client


async def test_every_operation_of_another_entity_is_refused(full: Client) -> None:
    """The golden walk: by a new operation, too."""
    child, passed = narrowed(full, ELSEWHERE), dict[str, Answer]()
    events = (await full.get("/account/events"))["results"]
    for each in ENDPOINTS:
        answer = await knock(each, child, missing_path(each))
        if answer.status != 403:
            passed[each.name] = answer
    lists = {each.name for each in ENDPOINTS if isinstance(each.grant, Listed)}
    makers = {each.name for each in ENDPOINTS if isinstance(each.grant, Global)}
    public = {each.name for each in ENDPOINTS if each.public}
    assert {passed[name].body["results"] for name in lists} == {0}
    assert {passed[name].status for name in passed.keys() & makers} <= {400}
    assert passed["list_events"].body["results"] == 0
    assert passed.keys() - lists - makers - public == set(NOT_OF_ENTITIES)
    assert (await full.get("/account/events"))["results"] == events


async def test_the_lists_of_the_walk_have_rows(full: Client) -> None:
    """Else nobody could see that they are hidden. Maintenance and databases are asked elsewhere."""
    empty = {
        each.name
        for each in ENDPOINTS
        if isinstance(each.grant, Listed) and (await full.get(each.path))["results"] == 0
    }
    databases = {"list_databases", "list_mysql_databases", "list_postgresql_databases"}
    assert empty == {"list_maintenance", *databases}


def test_what_copies_an_entity_is_known() -> None:
    """So that the copy is looked at, too."""
    named = {
        each.name
        for each in ENDPOINTS
        if each.name.startswith("clone_") and named_in(each) is not None
    }
    assert named - {"clone_disk"} == set(COPIES)
    rights = {e.name for e in ENDPOINTS if isinstance(e.grant, OnEntity) and e.grant.right}
    assert rights - set(COPIES) == {"rebuild_nodebalancer_config"}
    assert {e.grant.name for e in ENDPOINTS if isinstance(e.grant, Global)} - CREATED.keys() == {
        "child_account_access"
    }


def test_kinds_of_paths_are_those_of_grants() -> None:
    """A parameter names the same kind wherever it is."""
    for each in ENDPOINTS:
        named = named_in(each)
        found = next(iter(path_params(each.path)), None)
        if isinstance(each.grant, OnEntity):
            assert named == (PARAMETERS[each.grant.parameter], found)


async def test_databases_are_hidden_and_copied_within(
    client: Client, roost: Roost, account: Account
) -> None:
    await DATABASES.shown["view_mysql_database"].make(client, roost, account, "")
    child = narrowed(client, ELSEWHERE)
    for path in ("/databases/instances", "/databases/mysql/instances"):
        assert ((await client.get(path))["results"], (await child.get(path))["results"]) == (1, 0)
