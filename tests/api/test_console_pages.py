"""Pages of the console that are made by hand: what they show and do beyond those of the kit."""

import re
from urllib.parse import quote, urlencode

import pytest

from roost.app.roost import Roost
from roost.ids import new_uuid
from tests.api.conftest import Account, NewUser
from tests.support.browser import FORM, Browser, Page
from tests.support.client import Client
from tests.support.databases import POSTGRESQL, made_database, made_postgresql
from tests.support.instances import made
from tests.support.object_storage import made_bucket, object_engine, path_of


async def test_a_database_says_how_to_connect(client: Client, user_browser: Browser) -> None:
    database = await made_database(client)
    path = f"/console/databases/mysql/instances/{database['id']}"
    page = await user_browser.get(path)
    assert "Nobody reaches it" in page.text
    assert "-----BEGIN CERTIFICATE-----" in page.text
    body = {"allow_list": ["192.0.2.0/24"]}
    await client.put(f"/databases/mysql/instances/{database['id']}", body)
    page = await user_browser.get(path)
    assert "From 192.0.2.0/24." in page.text
    assert f"mariadb --host={database['hosts']['primary']} --port=3306" in page.text


async def test_so_does_a_database_of_postgresql(client: Client, user_browser: Browser) -> None:
    database = await made_postgresql(client)
    page = await user_browser.get(f"/console{POSTGRESQL}/{database['id']}")
    assert "do=update_postgresql_database" in page.text
    assert f"psql &#39;host={database['hosts']['primary']} port={database['port']}" in page.text
    assert f"{database['port']}/postgres?sslmode=verify-full&amp;sslrootcert=ca.pem" in page.text


async def test_records_ask_for_what_their_type_needs(client: Client, user_browser: Browser) -> None:
    domain = await client.post(
        "/domains", {"domain": "wren.example", "type": "master", "soa_email": "a@example.com"}
    )
    home = f"/console/domains/{domain['id']}"
    assert "nobody finds anything" in (await user_browser.get(home)).text
    chooser = await user_browser.get(f"{home}/records", do="create_record")
    assert "Of which type?" in chooser.text
    page = await user_browser.get(f"{home}/records", do="create_record", type="SRV")
    form = page.forms[-1].fields
    assert {"service", "protocol", "weight", "port", "priority"} <= form.keys()
    assert "tag" not in form
    wrong = await user_browser.submit(page, -1, service="sip", protocol="tcp", port="many")
    assert wrong.status == 400
    assert wrong.forms[-1].fields["type"] == "SRV"
    fields = {"service": "sip", "protocol": "tcp", "port": "5060", "priority": "1", "weight": "2"}
    done = await user_browser.submit(wrong, -1, target="sip.wren.example", **fields)
    assert done.status == 303
    shown = await user_browser.get(home)
    assert "1 2 5060 <bdi>sip.wren.example</bdi>" in shown.text
    (row,) = (await client.get(f"/domains/{domain['id']}/records"))["data"]
    edit = await user_browser.get(f"{home}/records/{row['id']}", do="update_record")
    assert (await user_browser.submit(edit, -1, target="b.wren.example")).status == 303
    (row,) = (await client.get(f"/domains/{domain['id']}/records"))["data"]
    assert (row["target"], row["port"]) == ("b.wren.example", 5060)


async def test_grants_are_given_and_taken_by_a_form(
    client: Client, account: Account, new_user: NewUser, user_browser: Browser
) -> None:
    domain = await client.post(
        "/domains", {"domain": "jay.example", "type": "master", "soa_email": "a@example.com"}
    )
    other = await new_user(account, restricted=True)
    path = f"/account/users/{other.username}/grants"
    for wanted, held in (("read_write", "read_write"), ("read_only", "read_only"), ("null", None)):
        page = await user_browser.get(f"/console{path}", do="update_user_grants")
        fields = {"domain.0.permissions": wanted, "global.add_volumes": "true"}
        assert (await user_browser.submit(page, -1, **fields)).status == 303
        grants = await client.get(path)
        assert grants["domain"] == [
            {"id": domain["id"], "label": "jay.example", "permissions": held}
        ]
        assert grants["global"]["add_volumes"] is True
    shown = await user_browser.get(f"/console{path}")
    assert "jay.example" in shown.text


async def test_a_bucket_is_browsed_as_folders(
    client: Client, roost: Roost, user_browser: Browser
) -> None:
    bucket = await made_bucket(client)
    path = path_of(bucket)
    await object_engine(roost).write(bucket["label"], "a")
    await object_engine(roost).write(bucket["label"], "letters/b")
    page = await user_browser.get(f"/console{path}")
    assert "do=create_object_url&amp;method=GET&amp;name=a" in page.text
    assert '?prefix=letters%2F"><bdi>letters/</bdi>' in page.text
    inside = await user_browser.get(f"/console{path}", prefix="letters/")
    assert "<bdi>b</bdi>" in inside.text
    link = await user_browser.get(f"/console{path}/object-url", do="create_object_url")
    wanted = {"method": "PUT", "name": "b c.txt", "content_type": "text/plain"}
    made = await user_browser.submit(link, -1, **wanted)
    assert made.status == 200
    assert re.search(
        r"curl -T FILE -H &#39;Content-Type: text/plain&#39; &#39;https?://[^&]+/b%20c.txt\?",
        made.text,
    )


async def test_a_second_factor_is_scanned(user_browser: Browser) -> None:
    page = await user_browser.get("/console/profile/tfa-enable", do="enable_tfa")
    made = await user_browser.submit(page, -1)
    assert made.status == 200
    assert '<img class="code" src="data:image/svg+xml' in made.text


@pytest.mark.parametrize("path", ["/account/estimate", "/support/tickets"])
async def test_an_account_without_anything_has_them_too(user_browser: Browser, path: str) -> None:
    assert (await user_browser.get(f"/console{path}")).status == 200


async def test_a_search_looks_everywhere(
    client: Client, stranger: Client, user_browser: Browser
) -> None:
    for who, name in ((client, "kestrel-one"), (stranger, "kestrel-two")):
        await who.post("/volumes", {"label": name, "region": "us-lake", "size": 20})
        body = {"domain": f"{name}.example", "type": "master", "soa_email": "a@example.com"}
        await who.post("/domains", body)
    page = await user_browser.get("/console/search", q="Kestrel")
    assert page.status == 200
    assert re.findall("<bdi>(.*?)</bdi>", page.text) == ["kestrel-one", "kestrel-one.example"]
    for text in ("no such thing", '"}}', "%", "\\", "x" * 500):
        page = await user_browser.get("/console/search", q=text)
        assert (page.status, "Nothing that you may see" in page.text) == (200, True), text
    assert "Type a part" in (await user_browser.get("/console/search")).text


async def test_a_form_is_of_what_its_address_names(client: Client, user_browser: Browser) -> None:
    for label in ("wren", "wren%20", "wren?x", "wr%65n"):
        await client.post("/tags", {"label": label})
    for label in ("wr%65n", "wren?x", "wren%20"):
        page = await user_browser.get(f"/console/tags/{quote(label, safe='')}?do=delete_tag")
        done = await user_browser.submit(page, -1, **_confirmed(page, label))
        assert done.status == 303
    assert [row["label"] for row in (await client.get("/tags"))["data"]] == ["wren"]


def _confirmed(page: Page, label: str) -> dict[str, str]:
    return {"confirm": label} if "f-confirm" in page.text else {}


@pytest.mark.parametrize(
    "path",
    [
        "/compute/instances/1?do=delete_instance",
        "/volumes/1?do=delete_volume",
        "/domains/1?do=delete_domain",
    ],
)
async def test_a_form_of_what_is_not_there_says_so(user_browser: Browser, path: str) -> None:
    assert (await user_browser.get(f"/console{path}")).status == 404


async def test_a_domain_goes_by_its_name(client: Client, user_browser: Browser) -> None:
    name = f"{new_uuid()}.example"
    body = {"domain": name, "type": "master", "soa_email": "a@example.com"}
    domain = await client.post("/domains", body)
    page = await user_browser.get(f"/console/domains/{domain['id']}", do="delete_domain")
    assert (await user_browser.submit(page, -1)).status == 400
    assert (await user_browser.submit(page, -1, confirm=name)).status == 303


async def test_more_rows_than_can_be_done_at_once_are_refused(user_browser: Browser) -> None:
    page = await user_browser.get("/console/volumes", do="create_volume")
    fields = {"csrf": page.forms[-1].fields["csrf"]}
    body = urlencode([*fields.items(), *(("row", str(n)) for n in range(101))]).encode()
    path = "/console/compute/instances?bulk=boot_instance"
    done = await user_browser.send("POST", path, body, FORM)
    assert done.status == 400
    assert "At most 100" in done.text


async def test_json_too_deep_to_be_sent_on_is_refused(user_browser: Browser) -> None:
    deep = "[" * 600 + "]" * 600
    page = await user_browser.get("/console/compute/instances/1/configs", do="create_config")
    page = await user_browser.submit(page, -1, memory_limit=deep)
    assert page.status == 400
    assert "nested too deeply" in page.text
    query = {"where": "size", "is": deep}
    assert (await user_browser.get("/console/volumes", **query)).status == 200


async def test_a_tag_leads_to_all_that_has_it(client: Client, user_browser: Browser) -> None:
    tag = "<b>wren</b>"
    volume = await client.post(
        "/volumes", {"label": "perch", "region": "us-lake", "size": 20, "tags": [tag]}
    )
    zone = {"domain": "tagged.example", "type": "master", "soa_email": "a@example.com"}
    domain = await client.post("/domains", {**zone, "tags": [tag]})
    page = await user_browser.get(f"/console/tags/{quote(tag, safe='')}")
    assert f'<a href="/console/volumes/{volume["id"]}"><bdi>perch</bdi></a>' in page.text
    assert f'<a href="/console/domains/{domain["id"]}"><bdi>tagged.example</bdi></a>' in page.text
    assert ("<b>wren" in page.text, "&lt;b&gt;wren" in page.text) == (False, True)


async def test_vlans_say_who_is_in_them(client: Client, user_browser: Browser) -> None:
    assert "There is nothing here yet" in (await user_browser.get("/console/networking/vlans")).text
    interfaces = [{"purpose": "public"}, {"purpose": "vlan", "label": "nest"}]
    instance = await made(client, region="us-lake", interfaces=interfaces)
    page = await user_browser.get("/console/networking/vlans")
    assert "<bdi>nest</bdi> <small>us-lake</small>" in page.text
    link = f'<a href="/console/compute/instances/{instance["id"]}">instance {instance["id"]}</a>'
    assert link in page.text
