"""The listener that speaks the Linode dialect: the same API, rights and refusals."""

import json

import pytest

from roost.web.registry import Endpoint, Page
from tests.api.conftest import Account, NewAccount, NewToken
from tests.api.samples.paths import missing_path
from tests.support.browser import open_browser
from tests.support.client import Answer, Client, Json
from tests.support.dialect import ENDPOINTS, LATER, in_linode
from tests.support.instances import made as made_instance
from tests.support.oauth import AUTHORIZE, PASSWORD, App, ask_tokens, refreshing, wish
from tests.support.server import RunningRoost


def refusal(answer: Answer) -> tuple[int, Json]:
    """What a refusal says, in one of the two words."""
    if answer.status < 400:
        return answer.status, None
    said = json.dumps(answer.body).replace("linode", "compute").replace("Linode", "Compute")
    return answer.status, json.loads(said)


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda e: e.name)
async def test_no_rights_are_added(
    endpoint: Endpoint,
    nobody: Client,
    nobody_there: Client,
    new_account: NewAccount,
    new_token: NewToken,
) -> None:
    """Nobody, a bad token, one for something else, and a user without grants: at both the same."""
    restricted = await new_account(restricted=True)
    tokens = [None, "0" * 64, await new_token(restricted, "longview:read_only")]
    tokens.append(await new_token(restricted))
    path = missing_path(endpoint)
    for token in tokens:
        here = await nobody.as_user(token).send(endpoint.method, path)
        there = await nobody_there.as_user(token).send(endpoint.method, in_linode(path))
        assert refusal(there) == refusal(here)
        accepted = here.headers["X-Accepted-OAuth-Scopes"].replace("computes:", "linodes:")
        assert there.headers["X-Accepted-OAuth-Scopes"] == accepted


@pytest.mark.parametrize(
    "endpoint", [each for each in LATER if isinstance(each.returns, Page)], ids=lambda e: e.name
)
async def test_later_lists_are_there_only(
    endpoint: Endpoint, nobody: Client, nobody_there: Client, client: Client, linode: Client
) -> None:
    path = in_linode(endpoint.path)
    page = await linode.get(path)
    assert page["results"] == len(page["data"])
    assert (await client.send("GET", endpoint.path)).status == 404
    anybody = await nobody_there.send("GET", path)
    assert anybody.status == (200 if endpoint.public else 401)
    assert (await linode.send("GET", f"{path}?page_size=7")).status == 400


@pytest.mark.parametrize(
    ("path", "row"),
    [
        (
            "/volumes/types",
            {
                "id": "volume",
                "label": "Storage Volume",
                "price": {"hourly": 0.00015, "monthly": 0.1},
            },
        ),
        (
            "/object-storage/types",
            {
                "id": "objectstorage",
                "label": "Object Storage",
                "price": {"hourly": 0.00003, "monthly": 0.02},
            },
        ),
        (
            "/network-transfer/prices",
            {
                "id": "network_transfer",
                "label": "Network Transfer",
                "price": {"hourly": 0.005, "monthly": None},
            },
        ),
    ],
)
async def test_prices_are_the_catalogues(path: str, row: Json, linode: Client) -> None:
    assert (await linode.get(path))["data"] == [{**row, "region_prices": [], "transfer": 0}]


@pytest.mark.parametrize("path", ["/compute/instances", "/nothing", "/linode", "/linode/", "//"])
async def test_unknown_paths(path: str, linode: Client) -> None:
    answer = await linode.send("GET", path)
    assert (answer.status, answer.problems) == (404, [(None, "Not found")])


async def test_a_volume_of_an_instance(linode: Client, client: Client) -> None:
    instance = await made_instance(client)
    made = await linode.post(
        "/volumes", {"label": "linode_id", "size": 10, "linode_id": instance["id"]}
    )
    assert made["label"] == "linode_id"
    assert made["linode_id"] == instance["id"]
    assert made["linode_label"] == instance["label"]
    assert made["encryption"] == "disabled"
    ours = await client.get(f"/volumes/{made['id']}")
    assert (ours["label"], ours["compute_id"]) == ("linode_id", instance["id"])
    assert not {"linode_id", "encryption"} & ours.keys()
    (found,) = (await linode.get("/volumes", filter={"label": "linode_id"}))["data"]
    assert found["linode_id"] == instance["id"]


async def test_an_instance_and_its_events(linode: Client, client: Client) -> None:
    wanted = {"region": "us-lake", "type": "g1-nano-1", "image": "linode/debian12"}
    made = await linode.post("/linode/instances", {**wanted, "root_pass": "aComplex@Password-7391"})
    assert made["image"] == "linode/debian12"
    assert made["lke_cluster_id"] is None
    assert (await client.get(f"/compute/instances/{made['id']}"))["image"] == "roost/debian12"
    of_it = {"entity.type": "linode", "entity.id": made["id"], "action": "linode_create"}
    (event,) = (await linode.get("/account/events", filter=of_it))["data"]
    assert event["entity"]["url"] == f"/v4/linode/instances/{made['id']}"
    assert event["secondary_entity"]["id"] == "linode/debian12"
    assert (await linode.get("/images/linode/debian12"))["created_by"] == "linode"
    assert (await linode.get("/linode/kernels/linode/grub2"))["id"] == "linode/grub2"
    assert (await linode.send("GET", "/images/roost/debian12")).status == 404


async def test_our_own_words_mean_nothing(linode: Client, client: Client) -> None:
    instance = await made_instance(client)
    body = {"label": "lost", "size": 10, "compute_id": instance["id"]}
    answer = await linode.send("POST", "/volumes", body)
    assert answer.problems == [(None, "Must provide a region or a Linode ID")]
    answer = await linode.send("POST", "/profile/tokens", {"scopes": "computes:read_only"})
    ((field, reason),) = answer.problems
    assert field == "scopes"
    assert "linodes:read_only" in reason
    answer = await linode.send("GET", "/volumes", headers={"X-Filter": '{"compute_id": 1}'})
    assert answer.status == 400


async def test_domains_as_later_clients_write_them(linode: Client) -> None:
    domain = await linode.post(
        "/domains",
        {"type": "master", "domain": "later-in-a-dialect.example", "soa_email": "a@example.org"},
    )
    records = f"/domains/{domain['id']}/records"
    record = await linode.post(
        records, {"type": "A", "name": "www", "target": "192.0.2.1", "weight": 0, "port": 0}
    )
    assert record["target"] == "192.0.2.1"
    found = await linode.get("/account/events", filter={"action": "domain_create"})
    assert found["data"][0]["action"] == "domain_create"


async def test_headers_of_scopes(
    nobody_there: Client, account: Account, new_token: NewToken
) -> None:
    token = await new_token(account, "computes:read_only")
    answer = await nobody_there.as_user(token).send("GET", "/linode/instances")
    assert answer.headers["X-OAuth-Scopes"] == "linodes:read_only"
    assert answer.headers["X-Accepted-OAuth-Scopes"] == "linodes:read_only"


async def test_head_has_the_length_of_the_translated_body(linode: Client) -> None:
    whole = await linode.send("GET", "/linode/types")
    head = await linode.send("HEAD", "/linode/types")
    assert head.raw == b""
    assert int(head.headers["Content-Length"]) == len(whole.raw)


BAD = [
    b"{",
    b"[]",
    b"\xff",
    b'{"linode_id": 1e999}',
    b'{"label": "a\\u0000b"}',
    b'{"label": "\\ud800"}',
    b'{"linode_id": "x", "label": ""}',
    b'{"linode_id": ' + b"9" * 40 + b"}",
    b'{"tags": ' + b"[" * 100 + b"]" * 100 + b"}",
    b'{"linode_id": 1, "linode_id": true}',
    b"",
]


@pytest.mark.parametrize("raw", BAD)
async def test_bad_bodies_are_refused_alike(raw: bytes, linode: Client, client: Client) -> None:
    headers = {"Content-Type": "application/json"}
    there = await linode.send("POST", "/volumes", headers=headers, data=raw)
    ours = raw.replace(b"linode_id", b"compute_id")
    here = await client.send("POST", "/volumes", headers=headers, data=ours)
    assert there.status == 400
    assert refusal(there) == refusal(here)


async def test_a_body_that_is_too_large(linode: Client, running: RunningRoost) -> None:
    raw = b'{"label": "' + b"x" * running.roost.settings.max_body + b'"}'
    headers = {"Content-Type": "application/json"}
    answer = await linode.send("POST", "/volumes", headers=headers, data=raw)
    assert answer.status == 413


@pytest.mark.parametrize("raw", ["{", "[]", '{"+or": 1}', '{"nothing": 1}', '{"linode_id": []}'])
async def test_bad_filters_are_refused_alike(raw: str, linode: Client, client: Client) -> None:
    there = await linode.send("GET", "/volumes", headers={"X-Filter": raw})
    ours = raw.replace("linode_id", "compute_id")
    here = await client.send("GET", "/volumes", headers={"X-Filter": ours})
    assert there.status == 400
    assert refusal(there) == refusal(here)


async def test_grants(
    linode: Client, client: Client, account: Account, new_user: NewAccount
) -> None:
    instance = await made_instance(client)
    user = await new_user(account, restricted=True)
    path = f"/account/users/{user.username}/grants"
    said = await linode.put(
        path,
        {
            "global": {"add_linodes": True},
            "linode": [{"id": instance["id"], "permissions": "read_only"}],
        },
    )
    assert said["global"]["add_linodes"] is True
    assert [(each["id"], each["permissions"]) for each in said["linode"]] == [
        (instance["id"], "read_only")
    ]
    assert (await client.get(path))["global"]["add_computes"] is True


async def test_preferences_are_the_callers_own(linode: Client, client: Client) -> None:
    own = {"linode_id": {"type": "linode", "compute": 1}, "computes": ["roost/x"]}
    assert await linode.put("/profile/preferences", own) == own
    assert await client.get("/profile/preferences") == own
    assert await linode.put("/profile/preferences/", own) == own
    assert await client.get("/profile/preferences") == own


async def test_explain(linode: Client) -> None:
    query = "method=GET&path=/v4/linode/instances/1"
    said = await linode.get(f"/profile/explain?{query}")
    assert said["path"] == "/v4/linode/instances/1"
    assert said["operation"] == "view_instance"


async def test_an_application_asks_for_scopes(
    running: RunningRoost, nobody_there: Client, user: Account, app: App
) -> None:
    """All of OAuth at the dialect's listener: the link, the login, the consent, the tokens."""
    wanted = wish(app, scope="linodes:read_only account:read_only")
    async with open_browser(running.linode) as browser:
        asked = await browser.get(AUTHORIZE, **wanted)
        login = await browser.get(asked.location or "")
        entered = await browser.submit(login, username=user.username, password=PASSWORD)
        consent = await browser.get(entered.location or "")
        assert consent.status == 200
        assert "Linode instances" in consent.text
        code = (await browser.submit(consent, decision="allow")).answer["code"]
        status, pair = await ask_tokens(browser, {**app.login, "code": code})
        assert status == 200
        narrower = {"scope": "linodes:read_only"}
        status, renewed = await ask_tokens(browser, refreshing(app, pair, **narrower))
    assert (status, renewed["scope"]) == (200, "linodes:read_only")
    there = nobody_there.as_user(renewed["access_token"])
    assert (await there.send("GET", "/linode/instances")).status == 200
    assert (await there.send("GET", "/volumes")).status == 401
