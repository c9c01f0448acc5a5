"""What the console of the Linode dialect's own cloud needs of the listener: its login, its
preflights, its filters and what it reads of records."""

import json

import pytest

from tests.api.conftest import Account
from tests.support.browser import Browser, open_browser
from tests.support.client import Client, Json
from tests.support.firewalls import firewall_body
from tests.support.instances import made as made_instance
from tests.support.oauth import (
    AUTHORIZE,
    PASSWORD,
    App,
    Proof,
    allow,
    ask_tokens,
    register,
    wish,
)
from tests.support.server import RunningRoost

CONSOLE = "https://console.example.com/oauth/callback"
BACK = f"{CONSOLE}?returnTo=/linodes/100001?tab=2"


@pytest.fixture
async def console(client: Client) -> App:
    return await register(client, public=True, redirect_uri=CONSOLE)


async def logged_in(browser: Browser, user: Account) -> Browser:
    assert (await browser.log_in(user.username, PASSWORD)).status == 303
    return browser


async def test_login_leads_back_to_the_page(
    running: RunningRoost, user: Account, console: App, nobody_there: Client
) -> None:
    proof = Proof()
    wanted = wish(console, scope="*", redirect_uri=BACK, state="s", **proof.challenge)
    async with open_browser(running.linode) as browser:
        page = await allow(await logged_in(browser, user), wanted)
        assert page.location is not None
        assert page.location.startswith(f"{BACK}&code=")
        code = page.location.partition("&code=")[2].partition("&")[0]
        form = {"client_id": console.id, "code": code, "code_verifier": proof.verifier}
        status, pair = await ask_tokens(browser, {**form, "grant_type": "authorization_code"})
        assert status == 200
        assert pair["token_type"].lower() == "bearer"
        assert pair["scopes"] == "*"
        # It sends people there to leave.
        assert (await browser.get("/logout")).status == 200
    there = nobody_there.as_user(pair["access_token"])
    assert (await there.send("GET", "/profile")).status == 200


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://console.example.com/oauth/other?returnTo=/",
        "https://console.example.com/oauth/callback/?returnTo=/",
        "https://console.example.org/oauth/callback?returnTo=/",
        "http://console.example.com/oauth/callback?returnTo=/",
        "https://console.example.com/oauth/callback#?returnTo=/",
        "https://console.example.com/oauth/callback?returnTo=/#x",
        "https://console.example.com/oauth/callback?returnTo=\\",
    ],
)
async def test_nothing_else_of_a_redirect_uri_may_differ(
    elsewhere: str, running: RunningRoost, user: Account, console: App
) -> None:
    wanted = wish(console, redirect_uri=elsewhere, **Proof().challenge)
    async with open_browser(running.linode) as browser:
        page = await (await logged_in(browser, user)).get(AUTHORIZE, **wanted)
    assert (page.status, page.location) == (400, None)


async def test_the_plain_api_compares_all_of_it(user_browser: Browser, console: App) -> None:
    wanted = wish(console, redirect_uri=BACK, **Proof().challenge)
    page = await user_browser.get(AUTHORIZE, **wanted)
    assert (page.status, page.location) == (400, None)


@pytest.mark.parametrize("path", ["/iam/users/x/role-permissions", "/linode/instances", "/x"])
async def test_preflights_may_ask(path: str, linode: Client) -> None:
    origin = {"Origin": "https://console.example.com", "Access-Control-Request-Method": "GET"}
    answer = await linode.send("OPTIONS", path, headers=origin)
    assert answer.status == 200
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert "X-Filter" in answer.headers["Access-Control-Allow-Headers"]
    if path != "/linode/instances":
        answer = await linode.send("GET", path, headers=origin)
        assert answer.status == 404
        assert answer.headers["Access-Control-Allow-Origin"] == "*"


async def test_a_firewall_says_what_is_behind_it(linode: Client, client: Client) -> None:
    instance = await made_instance(client)
    body = firewall_body(label="console")
    made = await linode.post(
        "/networking/firewalls", {**body, "devices": {"linodes": [instance["id"]]}}
    )
    (entity,) = made["entities"]
    assert (entity["type"], entity["id"]) == ("linode", instance["id"])
    assert entity["url"] == f"/v4/linode/instances/{instance['id']}"
    assert entity["parent_entity"] is None
    rules: Json = {"inbound": [], "outbound": []}
    path = f"/networking/firewalls/{made['id']}"
    before = made["rules"]
    after = await linode.put(f"{path}/rules", rules)
    if after["fingerprint"] != before["fingerprint"]:
        assert after["version"] == before["version"] + 1
    # Whoever sends back what they have read changes nothing.
    assert await linode.put(f"{path}/rules", after) == after
    (device,) = (await linode.get(f"{path}/devices"))["data"]
    await linode.delete(f"{path}/devices/{device['id']}")
    assert (await linode.get(path))["entities"] == []
    settings = await linode.get("/networking/firewalls/settings")
    assert settings["default_firewall_ids"]["linode"] is None


async def test_regions_say_what_an_account_has_there(linode: Client) -> None:
    offered = {each["id"]: each["capabilities"] for each in (await linode.get("/regions"))["data"]}
    rows = (await linode.get("/account/availability"))["data"]
    assert {each["region"] for each in rows} == offered.keys()
    for row in rows:
        assert set(row["available"]) <= set(offered[row["region"]])
        assert not set(row["unavailable"]) & set(offered[row["region"]])
        assert await linode.get(f"/account/availability/{row['region']}") == row
        vpcs = await linode.get(f"/regions/{row['region']}/vpc-availability")
        assert vpcs["available"] == ("VPCs" in offered[row["region"]])
        assert vpcs in (await linode.get("/regions/vpc-availability"))["data"]
    assert any("Linodes" in row["available"] for row in rows)
    assert (await linode.send("GET", "/regions/nowhere/vpc-availability")).status == 404


async def test_prices_of_databases_are_of_both_engines(linode: Client, client: Client) -> None:
    for row in (await linode.get("/databases/types", filter={"platform": "rdbms-default"}))["data"]:
        assert row["engines"]["postgresql"]
        assert row["engines"]["mysql"]
    assert (await client.get("/databases/types"))["data"][0]["engines"].keys() == {
        "mysql",
        "postgresql",
    }


async def test_tickets_by_status(linode: Client) -> None:
    body = {"summary": "From the console", "description": "It works"}
    ticket = await linode.post("/support/tickets", body)
    open_ = {"+or": [{"status": "open"}, {"status": "new"}]}
    (found,) = (await linode.get("/support/tickets", filter=open_))["data"]
    assert found["id"] == ticket["id"]
    closed = await linode.get("/support/tickets", filter={"status": "closed"})
    assert closed["data"] == []


async def test_volumes_of_an_instance_by_filter(linode: Client, client: Client) -> None:
    instance = await made_instance(client)
    body = {"label": "of-it", "size": 10, "linode_id": instance["id"]}
    made = await linode.post("/volumes", body)
    await linode.post("/volumes", {"label": "alone", "size": 10, "region": "us-lake"})
    (found,) = (await linode.get("/volumes", filter={"linode_id": instance["id"]}))["data"]
    assert found["id"] == made["id"]
    (alone,) = (await linode.get("/volumes", filter={"linode_id": None}))["data"]
    assert alone["label"] == "alone"
    assert (await linode.get("/volumes", filter={"encryption": "enabled"}))["data"] == []


async def test_an_image_of_a_disk_that_is_not_there(linode: Client, client: Client) -> None:
    answer = await linode.send("POST", "/images", {"disk_id": 111111})
    assert (answer.status, answer.problems) == (404, [(None, "Not found")])
    answer = await linode.send("POST", "/images", {"disk_id": 111111, "label": 7})
    assert answer.status == 400
    assert (await client.send("POST", "/images", {"disk_id": 111111})).status == 400


async def test_a_record_is_changed_without_its_type(linode: Client) -> None:
    """What it means depends on what it is."""
    domain = await linode.post(
        "/domains",
        {"type": "master", "domain": "console-of-a-dialect.example", "soa_email": "a@example.org"},
    )
    records = f"/domains/{domain['id']}/records"
    address = await linode.post(records, {"type": "A", "name": "www", "target": "192.0.2.1"})
    weighed = {"weight": 55, "port": 8, "target": "192.0.2.2"}
    said = await linode.put(f"{records}/{address['id']}", weighed)
    assert said["target"] == "192.0.2.2"
    service = {"service": "sip", "protocol": "tcp", "target": "sip.example.org", "port": 5060}
    served = await linode.post(records, {"type": "SRV", **service, "priority": 1, "weight": 1})
    said = await linode.put(f"{records}/{served['id']}", {"weight": 55, "port": 8})
    assert (said["weight"], said["port"]) == (55, 8)
    answer = await linode.send("PUT", f"{records}/999999999", {"weight": 55})
    assert answer.status == 404


async def test_vpcs_are_refused_in_their_words(linode: Client) -> None:
    subnets = [{"label": "in", "ipv4": "10.0.0.0/99"}]
    body = {"label": "no_such", "region": "us-lake", "subnets": subnets}
    answer = await linode.send("POST", "/vpcs", body)
    assert answer.problems == [
        ("label", "Label must include only ASCII letters, numbers, and dashes"),
        ("subnets[0].ipv4", "ipv4 must be an IPv4 network"),
    ]


async def test_stats_are_said_twice(linode: Client, client: Client) -> None:
    """The console reads them in `data`, programs beside it."""
    instance = await made_instance(client)
    path = f"/linode/instances/{instance['id']}/stats"
    answer = await linode.send("GET", path)
    assert answer.status in (200, 400)
    if answer.status == 200:
        said = json.loads(answer.raw)
        assert said["data"]["cpu"] == said["cpu"]
