"""Forms of the console in which what is common is chosen: scopes, rules to begin with, files."""

import html
import re
from urllib.parse import urlencode

from tests.support.browser import FORM, Browser
from tests.support.client import Client
from tests.support.forms import FormPart, form

FIREWALLS = "/networking/firewalls"


async def test_scopes_are_ticked(client: Client, user_browser: Browser) -> None:
    page = await user_browser.get("/console/profile/tokens", do="create_token")
    boxes = re.findall('name="scopes" value="([^"]+)"', page.text)
    assert {"volumes:read_only", "volumes:read_write", "events:read_only"} <= set(boxes)
    assert "events:read_write" not in boxes
    sent = page.forms[-1]
    ticked = [("scopes", "volumes:read_only"), ("scopes", "computes:read_write")]
    body = urlencode([*{**sent.fields, "label": "two"}.items(), *ticked]).encode()
    done = await user_browser.send("POST", sent.action, body, FORM)
    assert done.status == 200, done.text
    page = await user_browser.get("/console/profile/tokens", do="create_token")
    assert (await user_browser.submit(page, -1, label="all")).status == 200
    known = {
        each["label"]: each["scopes"] for each in (await client.get("/profile/tokens"))["data"]
    }
    assert known["two"] == "volumes:read_only computes:read_write"
    assert known["all"] == "*"


async def test_scopes_that_are_refused_stay_ticked(user_browser: Browser) -> None:
    page = await user_browser.get("/console/profile/tokens", do="create_token")
    fields = {"scopes": "volumes:read_only", "expiry": "yesterday"}
    refused = await user_browser.submit(page, -1, **fields)
    assert refused.status == 400
    assert 'value="volumes:read_only" checked' in refused.text


async def test_a_firewall_begins_with_a_template(client: Client, user_browser: Browser) -> None:
    page = await user_browser.get(f"/console{FIREWALLS}", do="create_firewall")
    links = {
        name: html.unescape(url)
        for url, name in re.findall('<li><a href="([^"]+)">([A-Z][^<]+)</a>: ', page.text)
    }
    assert {"SSH", "Web server", "Nothing", "Everything"} <= links.keys()
    for name, url in links.items():
        filled = await user_browser.get(url)
        assert filled.status == 200
        # Selects are not read by this browser: it sends what the template says.
        kinds = re.findall(r"rules\.inbound\.(\d)\.protocol=(\w+)", url)
        given = {f"rules.inbound.{n}.protocol": kind for n, kind in kinds}
        given |= {f"rules.inbound.{n}.action": "ACCEPT" for n, _ in kinds}
        for n, _ in kinds:
            given[f"rules.inbound.{n}.addresses.ipv4"] = "0.0.0.0/0"
            given[f"rules.inbound.{n}.addresses.ipv6"] = "::/0"
        policy = re.search("rules.inbound_policy=(ACCEPT|DROP)", url)
        assert policy is not None
        policies = {"rules.inbound_policy": policy[1], "rules.outbound_policy": "ACCEPT"}
        label = name.lower().replace(" ", "-")
        made = await user_browser.submit(filled, -1, label=label, **given, **policies)
        assert made.status == 303, (name, made.text)
    walls = {each["label"]: each["rules"] for each in (await client.get(FIREWALLS))["data"]}
    (web, ssh, _) = walls["web-server"]["inbound"]
    assert (web["protocol"], web["ports"], ssh["ports"]) == ("TCP", "80, 443", "22")
    assert web["addresses"] == {"ipv4": ["0.0.0.0/0"], "ipv6": ["::/0"]}
    assert walls["nothing"]["inbound"] == []
    assert walls["everything"]["inbound_policy"] == "ACCEPT"


async def test_rules_that_are_not_changed_stay(client: Client, user_browser: Browser) -> None:
    """A form of rules takes the place of all, also of those that nobody has touched."""
    rule = {"protocol": "TCP", "ports": "25", "addresses": {"ipv4": ["0.0.0.0/0"]}}
    rules = {
        "inbound": [],
        "inbound_policy": "DROP",
        "outbound": [{**rule, "action": "DROP"}],
        "outbound_policy": "ACCEPT",
    }
    made = await client.post(FIREWALLS, {"label": "mails", "rules": rules})
    path = f"{FIREWALLS}/{made['id']}/rules"
    page = await user_browser.get(f"/console{path}", do="replace_firewall_rules")
    there = {"outbound.0.protocol": "TCP", "outbound.0.action": "DROP"}
    there |= {"outbound.0.addresses.ipv4": "0.0.0.0/0"}
    added = {"inbound.0.protocol": "TCP", "inbound.0.ports": "22", "inbound.0.action": "ACCEPT"}
    added |= {"inbound.0.addresses.ipv4": "192.0.2.0/24"}
    policies = {"inbound_policy": "DROP", "outbound_policy": "ACCEPT"}
    done = await user_browser.submit(page, -1, **there, **added, **policies)
    assert done.status == 303, done.text
    now = await client.get(path)
    assert [each["ports"] for each in now["inbound"]] == ["22"]
    assert [each["ports"] for each in now["outbound"]] == ["25"]


async def test_a_ticket_takes_a_file(client: Client, user_browser: Browser) -> None:
    ticket = await client.post("/support/tickets", {"summary": "Slow", "description": "Disk"})
    path = f"/support/tickets/{ticket['id']}"
    shown = await user_browser.get(f"/console{path}")
    assert f"{path}/attachments?do=upload_ticket_attachment" in shown.text
    page = await user_browser.get(f"/console{path}/attachments", do="upload_ticket_attachment")
    sent = page.forms[-1]
    fields = [FormPart(None, value.encode(), name) for name, value in sent.fields.items() if value]
    kind, body = form(*fields, FormPart("log.txt", b"a line\n"))
    done = await user_browser.send("POST", sent.action, body, {"Content-Type": kind})
    assert done.status == 303, done.text
    assert (await client.get(path))["attachments"] == ["log.txt"]
    assert "Attached: log.txt" in (await user_browser.get(f"/console{path}")).text


async def test_activity_says_of_what(client: Client, user_browser: Browser) -> None:
    await client.post("/volumes", {"label": "ledger", "region": "us-lake", "size": 10})
    page = await user_browser.get("/console/account/events", where="action")
    assert "<bdi>ledger</bdi>" in page.text
