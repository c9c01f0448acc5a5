"""The web console: its pages, forms, and what they never show."""

import html
import re
from collections import Counter
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest

from roost.app.roost import Roost
from roost.ids import new_uuid
from roost.resources.users.queries import set_password
from roost.secrets import Box, hash_password
from tests.api.conftest import Account, NewUser
from tests.support.browser import Browser, Page, open_browser
from tests.support.client import Client, until
from tests.support.oauth import PASSWORD, give_password
from tests.support.server import RunningRoost


@pytest.fixture
async def console(running: RunningRoost, roost: Roost, account: Account) -> AsyncIterator[Browser]:
    """The browser of the account's user."""
    await give_password(roost.store, account.username)
    async with open_browser(running.url) as browser:
        await browser.log_in(account.username, PASSWORD)
        yield browser


async def test_a_login_leads_to_the_page_that_was_wanted(
    running: RunningRoost, roost: Roost, account: Account
) -> None:
    await give_password(roost.store, account.username)
    async with open_browser(running.url) as browser:
        asked = await browser.get("/console/volumes", page="2")
        assert asked.status == 303
        assert asked.location == "/login?next=%2Fconsole%2Fvolumes%3Fpage%3D2"
        form = await browser.get(asked.location)
        entered = await browser.submit(form, username=account.username, password=PASSWORD)
        assert entered.location == "/console/volumes?page=2"


MARKER = "'\"><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7}}"
_CATALOGUE = re.compile(r"/console/(compute/types|compute/kernels|databases|regions|images|betas)/")
_LINK = re.compile(r'href="(/[^"#]*)"')


async def crawl(browser: Browser) -> dict[str, Page]:
    """All pages that the start page leads to, but two of what the catalogue has many of."""
    queue, seen, catalogue = ["/"], dict[str, Page](), Counter[str]()
    while queue:
        path = queue.pop(0)
        if path in seen:
            continue
        if found := _CATALOGUE.match(path):
            catalogue[found[0]] += 1
            if catalogue[found[0]] > 2:
                continue
        page = seen[path] = await browser.get(path)
        for found in _LINK.findall(page.text):
            link = html.unescape(found)
            parts = urlsplit(link)
            ours = parts.path == "/" or parts.path.startswith("/console/")
            if ours and "order=" not in parts.query and "/static/" not in parts.path:
                queue.append(link)
    return seen


async def fill(client: Client) -> None:
    """Something of all that takes texts which nobody checks."""
    await client.post("/tags", {"label": MARKER[:50]})
    await client.post("/support/tickets", {"summary": MARKER[:64], "description": MARKER})
    await client.post(
        "/compute/stackscripts",
        {
            "label": MARKER,
            "script": f"#!/bin/sh\n{MARKER}",
            "images": ["roost/debian12"],
            "description": MARKER,
            "rev_note": MARKER,
        },
    )
    domain = await client.post(
        "/domains",
        {
            "domain": f"{new_uuid()}.example",
            "type": "master",
            "soa_email": "a@example.com",
            "description": MARKER,
            "tags": [MARKER[:50]],
        },
    )
    await client.post(
        f"/domains/{domain['id']}/records", {"type": "TXT", "name": "x", "target": MARKER}
    )
    await client.post("/vpcs", {"label": "net", "region": "us-lake", "description": MARKER})
    await client.post("/profile/tokens", {"label": MARKER[:100], "scopes": "*"})
    await client.post(
        "/account/oauth-clients", {"label": MARKER, "redirect_uri": "https://a.example/"}
    )
    instance = await client.post("/compute/instances", {"type": "g1-nano-1", "region": "us-lake"})
    at = f"/compute/instances/{instance['id']}"
    await client.post(f"{at}/configs", {"label": "boot", "comments": MARKER, "devices": {}})
    await client.post(
        "/volumes", {"label": "data", "region": "us-lake", "size": 10, "tags": [MARKER[:50]]}
    )
    rule = {
        "protocol": "TCP",
        "addresses": {"ipv4": ["0.0.0.0/0"]},
        "action": "ACCEPT",
        "label": MARKER[:32],
        "description": MARKER,
    }
    rules = {"inbound": [rule], "inbound_policy": "DROP", "outbound_policy": "ACCEPT"}
    behind = {"computes": [instance["id"]]}
    await client.post("/networking/firewalls", {"label": "wall", "rules": rules, "devices": behind})


async def test_no_text_is_alive_on_any_page(console: Browser, client: Client) -> None:
    await fill(client)
    pages = await crawl(console)
    assert len(pages) > 100
    wrong = [path for path, page in pages.items() if page.status not in (200, 400, 403)]
    assert [each for each in wrong if not each.endswith("/thumbnail")] == []
    shown = [path for path, page in pages.items() if "alert(1)" in page.text]
    assert len(shown) > 10
    alive = [path for path, page in pages.items() if _alive(page)]
    assert not alive
    policies = {page.headers["Content-Security-Policy"] for page in pages.values()}
    assert all("unsafe" not in each and "'none'" in each for each in policies)


def _alive(page: Page) -> bool:
    if "text/html" not in page.headers["Content-Type"]:
        return False
    return "<script>" in page.text or "<img src=x" in page.text


async def test_a_form_makes_what_it_says(console: Browser, client: Client) -> None:
    form = await console.get("/console/volumes", do="create_volume")
    wanted = {"label": "data", "region": "us-lake", "size": "10"}
    price = await console.submit(form, index(form, "create_volume"), **wanted, preview="yes")
    assert "<strong>$1.00</strong> a month" in price.text
    assert "curl -H" in price.text
    assert "roostctl volumes create" in price.text
    assert (await client.get("/volumes"))["results"] == 0
    sent = form.forms[index(form, "create_volume")]
    fields = {**sent.fields, **wanted}
    made = await console.post(sent.action, fields)
    (volume,) = (await client.get("/volumes"))["data"]
    assert made.location == f"/console/volumes/{volume['id']}?done=create_volume"
    assert (await console.post(sent.action, fields)).location == made.location
    assert (await client.get("/volumes"))["results"] == 1


async def test_a_refused_form_says_why_at_its_fields(console: Browser) -> None:
    form = await console.get("/console/volumes", do="create_volume")
    page = await console.submit(form, index(form, "create_volume"), label="data", size="ten")
    assert page.status == 400
    assert '<p class="error" id="f-size-wrong">Must be an integer</p>' in page.text
    assert '<p class="error" id="f-region-wrong">region is required</p>' not in page.text
    assert re.search("Request [0-9a-f]{16}", page.text)
    assert 'value="data"' in page.text


async def test_a_change_sends_what_was_changed(console: Browser, client: Client) -> None:
    wall = {"inbound": [], "inbound_policy": "DROP", "outbound_policy": "ACCEPT"}
    made = await client.post("/networking/firewalls", {"label": "wall", "rules": wall})
    path = f"/console/networking/firewalls/{made['id']}/rules"
    form = await console.get(path, do="replace_firewall_rules")
    rule = {
        "inbound.0.protocol": "TCP",
        "inbound.0.ports": "22",
        "inbound.0.addresses.ipv4": "192.0.2.0/24\r\n198.51.100.0/24",
        "inbound.0.action": "ACCEPT",
        "inbound_policy": "DROP",
        "outbound_policy": "ACCEPT",
    }
    done = await console.submit(form, index(form, "replace_firewall_rules"), **rule)
    assert done.status == 303, done.text
    rules = await client.get(f"/networking/firewalls/{made['id']}/rules")
    assert rules["inbound"][0]["addresses"]["ipv4"] == ["192.0.2.0/24", "198.51.100.0/24"]


async def test_what_cannot_be_taken_back_asks_for_the_label(
    console: Browser, client: Client
) -> None:
    made = await client.post("/volumes", {"label": "data", "region": "us-lake", "size": 10})
    form = await console.get(f"/console/volumes/{made['id']}", do="delete_volume")
    at = index(form, "delete_volume")
    assert (await console.submit(form, at)).status == 400
    assert (await console.submit(form, at, confirm="date")).status == 400
    assert (await client.get("/volumes"))["results"] == 1
    done = await console.submit(form, at, confirm="data")
    assert done.location == "/console/volumes?done=delete_volume"


@pytest.mark.parametrize("csrf", [None, "", "0" * 64, "ä"])
async def test_a_form_of_elsewhere_does_nothing(
    console: Browser, client: Client, csrf: str | None
) -> None:
    fields = {"label": "data", "region": "us-lake", "size": "10"}
    given = fields if csrf is None else {**fields, "csrf": csrf}
    assert (await console.post("/console/volumes?do=create_volume", given)).status == 403
    bulk = await console.post("/console/compute/instances?bulk=boot_instance", {"row": "1"})
    assert bulk.status == 403
    assert (await client.get("/volumes"))["results"] == 0


async def test_a_session_of_a_restricted_user_shows_what_the_api_does(
    running: RunningRoost, roost: Roost, account: Account, client: Client, new_user: NewUser
) -> None:
    await client.post("/volumes", {"label": "hidden-from-them", "region": "us-lake", "size": 10})
    user = await new_user(account, restricted=True)
    await give_password(roost.store, user.username)
    async with open_browser(running.url) as browser:
        await browser.log_in(user.username, PASSWORD)
        pages = await crawl(browser)
        seen = [path for path, page in pages.items() if "hidden-from-them" in page.text]
        assert seen == ["/console/profile/grants"]  # As the API does: with no permission.
        listed = pages["/console/volumes"]
        assert "You need the grant" in listed.text
        assert "You may not see the bill." in pages["/"].text
        form = await browser.get("/console/volumes", do="create_volume")
        wanted = {"label": "data", "region": "us-lake", "size": "10"}
        refused = await browser.submit(form, index(form, "create_volume"), **wanted)
        assert refused.status == 403
        assert "You need the grant" in refused.text


async def test_its_token_ends_with_the_session_and_the_password(
    console: Browser, running: RunningRoost, roost: Roost, account: Account, nobody: Client
) -> None:
    assert (await console.get("/")).status == 200
    cookie = console.cookie("roost_session")
    assert cookie is not None
    token = roost.services.get(Box).mark(b"session token", cookie.encode()).hex()
    api = nobody.as_user(token)
    assert (await api.send("GET", "/profile")).status == 200
    assert (await api.get("/profile/tokens"))["results"] == 0
    changed = hash_password("another long password")
    assert await set_password(roost.store, account.username, changed, roost.clock.now())
    assert (await console.get("/")).location == "/login?next=%2F"
    await until(lambda: _is_refused(api), bool)
    await console.log_in(account.username, "another long password")
    page = await console.get("/")
    await console.submit(page)
    assert (await console.get("/")).location == "/login?next=%2F"


async def test_a_stackscript_is_answered_by_fields(console: Browser, client: Client) -> None:
    script = '#!/bin/sh\n# <UDF name="color" label="Which?" oneof="red,blue" />\n'
    body = {"label": "paint", "script": script, "images": ["roost/debian12"]}
    made = await client.post("/compute/stackscripts", body)
    form = await console.get("/console/compute/instances", do="create_instance")
    chosen = {"stackscript_id": str(made["id"]), "preview": "yes"}
    page = await console.submit(form, index(form, "create_instance"), **chosen)
    assert '<select id="f-stackscript_data-color" name="stackscript_data.color"' in page.text
    answers = {"stackscript_id": str(made["id"]), "stackscript_data.color": "red"}
    page = await console.submit(page, index(page, "create_instance"), **answers, preview="yes")
    assert "&#34;color&#34;: &#34;red&#34;" in page.text


async def test_a_file_is_sent_as_the_api_takes_it(console: Browser, client: Client) -> None:
    ticket = await client.post("/support/tickets", {"summary": "help", "description": "please"})
    path = f"/console/support/tickets/{ticket['id']}/attachments"
    form = await console.get(path, do="upload_ticket_attachment")
    csrf = form.forms[index(form, "upload_ticket_attachment")].fields["csrf"]
    parts = [_part('name="csrf"', csrf), _part('name="file"; filename="log.txt"', "it broke")]
    data = "".join([*parts, "--limit--\r\n"]).encode()
    to = f"{path}?do=upload_ticket_attachment"
    kind = {"Content-Type": "multipart/form-data; boundary=limit"}
    sent = await console.send("POST", to, data, kind)
    assert sent.status == 303, sent.text
    assert (await client.get(f"/support/tickets/{ticket['id']}"))["attachments"] == ["log.txt"]
    without = data.replace(csrf.encode(), b"0" * 64)
    assert (await console.send("POST", to, without, kind)).status == 403


def _part(said: str, text: str) -> str:
    return f"--limit\r\nContent-Disposition: form-data; {said}\r\n\r\n{text}\r\n"


async def _is_refused(client: Client) -> bool:
    return (await client.send("GET", "/profile")).status == 401


def index(page: Page, operation: str) -> int:
    """Which form of the page is that of an operation."""
    (found,) = (n for n, form in enumerate(page.forms) if form.action.endswith(f"do={operation}"))
    return found
