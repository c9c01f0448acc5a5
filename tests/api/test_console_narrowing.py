"""The web console makes narrowed tokens, and keeps none (docs/tokens.md)."""

import html
import re

from tests.support.browser import Browser, Page
from tests.support.client import Client
from tests.support.narrowing import refused
from tests.support.volumes import VOLUMES

PATH = "/console/narrow"


def made(page: Page) -> str:
    found = re.search(r'<pre id="narrowed">([^<]+)</pre>', page.text)
    assert found is not None, page.text
    return html.unescape(found[1])


async def test_a_new_token_is_narrowed_at_once(client: Client, user_browser: Browser) -> None:
    form = await user_browser.get("/console/profile/tokens", do="create_token")
    shown = await user_browser.submit(form, -1, label="ci")
    asked = await user_browser.submit(shown, -1, begin="true")
    assert len(asked.forms[-1].fields["token"]) == 64
    done = await user_browser.submit(asked, -1, read_only="true", tags="night, day-time")
    assert (
        "{&#34;read_only&#34;:true,&#34;tags&#34;:[&#34;night&#34;,&#34;day-time&#34;]}"
        in done.text
    )
    child = client.as_user(made(done))
    assert (await child.get(VOLUMES))["results"] == 0
    assert refused(await child.send("POST", VOLUMES, {}), "read_only")
    assert done.forms[-1].fields["token"] == ""


async def test_one_that_is_pasted(client: Client, user_browser: Browser) -> None:
    page = await user_browser.get(PATH)
    fields = {"token": f" {client.token} ", "entities": "compute 123456789\nvolume *"}
    done = await user_browser.submit(page, -1, **fields, operations="list_volumes\nview_volume")
    child = client.as_user(made(done))
    assert (await child.get(VOLUMES))["results"] == 0
    assert refused(await child.send("GET", "/compute/instances"), "operations")
    again = await user_browser.submit(
        page, -1, token=child.token or "", expires="2020-01-01T00:00:00"
    )
    assert (await client.as_user(made(again)).send("GET", VOLUMES)).status == 401


async def test_what_is_wrong_is_said(client: Client, user_browser: Browser) -> None:
    page = await user_browser.get(PATH)
    token = client.token or ""
    for fields, words in (
        ({"token": token}, "a restriction must say something"),
        ({"token": "secret", "tags": "night"}, "token: This is no token"),
        ({"token": "roost1.", "tags": "night"}, "<li>"),
        ({"token": token, "monthly_cost": "much"}, "monthly_cost: "),
        ({"token": token, "entities": "compute ten"}, "entities: Must be lines like compute"),
        ({"token": token, "entities": "compute 1\ncompute *"}, "entities: Must name each kind on"),
        ({"token": token, "networks": "home"}, "networks.0"),
    ):
        answer = await user_browser.submit(page, -1, **fields)
        assert (answer.status, words in answer.text) == (400, True), (fields, answer.text)
        assert 'id="narrowed"' not in answer.text
    foreign = await user_browser.submit(page, -1, token=token, tags="night", csrf="x")
    assert foreign.status == 403
