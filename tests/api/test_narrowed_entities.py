"""Narrowed tokens name what is left to them alone: each side door that leads to another entity."""

import pytest

from roost.app.roost import Roost
from roost.core.grant_queries import give
from roost.ids import new_uuid
from tests.api.conftest import Account, NewToken, NewUser
from tests.api.samples.databases import SAMPLES as DATABASES
from tests.api.samples.images import make_image
from tests.api.test_backups import enabled, saved
from tests.support.client import Client, Json
from tests.support.firewalls import FIREWALLS, firewall_body, guarded
from tests.support.instances import INSTANCES, OMITTED, create_body, made
from tests.support.narrowing import narrowed, refused
from tests.support.nodebalancers import BALANCERS, balancer, private
from tests.support.volumes import VOLUMES, made_volume
from tests.support.vpcs import VPCS, inside, made_vpc

VOLUME: Json = {"label": "more", "region": "us-lake"}


def only(kind: str, row: Json) -> Json:
    return {"entities": {kind: [row["id"]]}}


async def ids(client: Client, path: str, wanted: Json = None) -> list[int]:
    return [row["id"] for row in (await client.get(path, filter=wanted))["data"]]


@pytest.fixture
async def pair(client: Client) -> tuple[Json, Json]:
    """Two instances: one that is left to a token, and one that is not."""
    return await made(client), await made(client)


async def test_one_entity(client: Client, pair: tuple[Json, Json]) -> None:
    mine, other = pair
    child = narrowed(client, only("compute", mine))
    path, elsewhere = (f"{INSTANCES}/{each['id']}" for each in pair)
    assert await child.get(path) == await client.get(path)
    assert await child.put(path, {"label": "renamed"})
    assert await child.get(f"{path}/configs")
    for method, suffix, body in (
        ("GET", "", None),
        ("PUT", "", {"label": "renamed"}),
        ("DELETE", "", None),
        ("GET", "/disks", None),
        ("POST", "/boot", {}),
        ("PUT", "?dry_run=true", {}),
    ):
        assert refused(await child.send(method, elsewhere + suffix, body), "entities")
    known = {"If-None-Match": "*"}
    assert refused(await child.send("GET", elsewhere, headers=known), "entities")
    assert (await client.get(elsewhere))["label"] == other["label"]


async def test_what_is_another_accounts_stays_so(client: Client, stranger: Client) -> None:
    """Whatever a restriction says: it only takes away."""
    foreign = await made(stranger)
    for restriction in (only("compute", foreign), {"entities": {"compute": "*"}}):
        child = narrowed(client, restriction)
        answer = await child.send("GET", f"{INSTANCES}/{foreign['id']}")
        assert refused(answer, "entities")
        assert await ids(child, INSTANCES) == []


async def test_lists_show_what_is_left(client: Client, pair: tuple[Json, Json]) -> None:
    mine, other = pair
    child = narrowed(client, only("compute", mine))
    assert await ids(child, INSTANCES) == [mine["id"]]
    assert await ids(child, INSTANCES, {"label": other["label"]}) == []
    assert await ids(child, INSTANCES, {"+or": [{"id": mine["id"]}, {"id": other["id"]}]}) == [
        mine["id"]
    ]
    assert await ids(child, INSTANCES, {"+order_by": "label", "+order": "desc"}) == [mine["id"]]
    addresses = (await child.get("/networking/ips"))["data"]
    assert {row["compute_id"] for row in addresses} == {mine["id"]}
    assert (await child.get(VOLUMES))["results"] == 0
    await client.post(VOLUMES, {"label": "held", "compute_id": mine["id"]})
    assert (await child.get(f"{INSTANCES}/{mine['id']}/volumes"))["results"] == 0


async def test_a_list_is_as_long_as_what_is_left(client: Client) -> None:
    """Also where the number of rows is kept elsewhere."""
    rows = [await client.post(VOLUMES, {**VOLUME, "label": f"v{n}"}) for n in range(3)]
    child = narrowed(client, {"entities": {"volume": [row["id"] for row in rows[:2]]}})
    page = await child.get(f"{VOLUMES}?page_size=25")
    assert (page["results"], page["pages"]) == (2, 1)
    assert [row["id"] for row in page["data"]] == [row["id"] for row in rows[:2]]


async def test_two_restrictions_leave_what_both_leave(client: Client) -> None:
    one, two = [await client.post(VOLUMES, {**VOLUME, "label": f"v{n}"}) for n in range(2)]
    both = {"entities": {"volume": [one["id"], two["id"]]}}
    child = narrowed(client, both, only("volume", two))
    assert await ids(child, VOLUMES) == [two["id"]]
    assert await ids(narrowed(client, only("volume", one), only("volume", two)), VOLUMES) == []
    wider = narrowed(child, {"entities": {"volume": "*"}})
    assert await ids(wider, VOLUMES) == [two["id"]]
    other = narrowed(child, {"entities": {"compute": "*"}})
    assert await ids(other, VOLUMES) == []
    assert refused(await other.send("GET", f"{VOLUMES}/{two['id']}"), "entities")


async def test_by_label_and_tag(client: Client) -> None:
    a = await client.post(VOLUMES, {**VOLUME, "label": "ci-a", "tags": ["blue"]})
    await client.post(VOLUMES, {**VOLUME, "label": "ci-b"})
    c = await client.post(VOLUMES, {**VOLUME, "label": "prod", "tags": ["blue", "red"]})
    assert len(await ids(narrowed(client, {"label_prefix": "ci-"}), VOLUMES)) == 2
    assert await ids(narrowed(client, {"tags": ["blue"]}), VOLUMES) == [a["id"], c["id"]]
    assert await ids(narrowed(client, {"tags": ["red", "none"]}), VOLUMES) == [c["id"]]
    child = narrowed(client, {"label_prefix": "ci-", "tags": ["blue"]})
    assert await ids(child, VOLUMES) == [a["id"]]
    assert refused(await child.send("GET", f"{VOLUMES}/{c['id']}"), "tags")
    assert await ids(narrowed(client, {"label_prefix": "%"}), VOLUMES) == []
    assert await child.put(f"{VOLUMES}/{a['id']}", {"label": "out"})
    assert refused(await child.send("GET", f"{VOLUMES}/{a['id']}"), "tags")


async def test_what_is_made_must_be_within(client: Client) -> None:
    by_label = narrowed(client, {"label_prefix": "ci-"})
    by_tag = narrowed(client, {"tags": ["blue"]})
    by_id = narrowed(client, {"entities": {"volume": [123_456_789]}})
    of_kind = narrowed(client, {"entities": {"volume": "*"}})
    for child, body, restriction in (
        (by_label, VOLUME, "label_prefix"),
        (by_tag, VOLUME, "tags"),
        (by_tag, {**VOLUME, "tags": ["red"]}, "tags"),
        (by_id, VOLUME, "entities"),
    ):
        for path in (VOLUMES, f"{VOLUMES}?dry_run=true"):
            assert refused(await child.send("POST", path, body), restriction)
    assert (await client.get(VOLUMES))["results"] == 0
    assert await by_label.post(VOLUMES, {**VOLUME, "label": "ci-a"})
    assert await by_tag.post(VOLUMES, {**VOLUME, "label": "b", "tags": ["red", "blue"]})
    assert await of_kind.post(VOLUMES, {**VOLUME, "label": "c"})
    assert refused(await of_kind.send("POST", INSTANCES, create_body()), "entities")
    assert (await client.get(INSTANCES))["results"] == 0


async def test_a_copy_must_be_within(client: Client) -> None:
    row = await made_volume(client, label="ci-a")
    domain = await client.post(
        "/domains",
        {"domain": f"ci-{new_uuid()}.example", "type": "master", "soa_email": "a@b.example"},
    )
    child = narrowed(client, {"label_prefix": "ci-"})
    answer = await child.send("POST", f"{VOLUMES}/{row['id']}/clone", {"label": "stolen"})
    assert refused(answer, "label_prefix")
    body = {"domain": f"{new_uuid()}.example"}
    answer = await child.send("POST", f"/domains/{domain['id']}/clone", body)
    assert refused(answer, "label_prefix")
    assert (await client.get("/domains"))["results"] == 1
    assert (await client.get(VOLUMES))["results"] == 1


async def test_bodies_that_name_another_instance(client: Client, pair: tuple[Json, Json]) -> None:
    mine, other = pair
    row = await made_volume(client, label="mine")
    child = narrowed(
        client,
        {"entities": {"compute": [mine["id"]], "volume": "*", "firewall": "*", "image": "*"}},
    )
    disk = (await client.get(f"{INSTANCES}/{other['id']}/disks"))["data"][0]
    wall = await guarded(client)
    before = (await client.get("/account/events"))["results"]
    for method, path, body in (
        ("POST", f"{VOLUMES}/{row['id']}/attach", {"compute_id": other["id"]}),
        ("POST", VOLUMES, {"label": "new", "compute_id": other["id"]}),
        ("POST", f"{INSTANCES}/{mine['id']}/clone", {"compute_id": other["id"]}),
        ("POST", FIREWALLS, firewall_body(label="two", devices={"computes": [other["id"]]})),
        (
            "POST",
            f"{FIREWALLS}/{wall['id']}/devices",
            {"id": other["id"], "type": "compute"},
        ),
        ("POST", "/networking/ips", {"compute_id": other["id"], "type": "ipv4", "public": True}),
        ("POST", "/networking/ips/share", {"compute_id": other["id"], "ips": []}),
        ("POST", "/networking/ipv6/ranges", {"compute_id": other["id"], "prefix_length": 64}),
        ("POST", "/networking/explain", {"compute_id": other["id"]}),
        ("POST", "/tags", {"label": "blue", "computes": [other["id"]]}),
        ("POST", "/support/tickets", {"summary": "a", "description": "b", "compute_id": 1}),
    ):
        assert refused(await child.send(method, path, body), "entities"), path
    answer = await child.send("POST", "/images", {"disk_id": disk["id"]})
    assert (answer.status, answer.problems) == (403, [(None, "The token is restricted: entities")])
    assert (await client.get("/account/events"))["results"] == before


async def test_bodies_of_an_instance_that_name_other_things(
    client: Client, roost: Roost, account: Account, pair: tuple[Json, Json]
) -> None:
    mine, _ = pair
    row, vpc = await made_volume(client, label="theirs"), await made_vpc(client)
    wall = await guarded(client)
    image = await make_image(client, roost, account, "")
    script = await client.post(
        "/compute/stackscripts",
        {"label": "script", "images": ["roost/debian12"], "script": "#!/bin/sh\n"},
    )
    child = narrowed(client, {"entities": {"compute": "*"}})
    path = f"{INSTANCES}/{mine['id']}"
    config = (await client.get(f"{path}/configs"))["data"][0]
    vlan = {"purpose": "vlan", "label": "back-end"}
    devices = {"sda": {"volume_id": row["id"]}}
    for method, where, body in (
        ("POST", f"{path}/configs", {"label": "a", "devices": devices}),
        ("PUT", f"{path}/configs/{config['id']}", {"devices": devices}),
        ("POST", f"{path}/configs/{config['id']}/interfaces", inside(vpc)),
        ("POST", f"{path}/configs/{config['id']}/interfaces", vlan),
        ("PUT", f"{path}/configs/{config['id']}", {"interfaces": [vlan]}),
        ("POST", INSTANCES, create_body(interfaces=[vlan])),
        ("POST", INSTANCES, create_body(interfaces=[inside(vpc)])),
        ("POST", INSTANCES, create_body(firewall_id=wall["id"])),
        ("POST", INSTANCES, create_body(image=image)),
        ("POST", INSTANCES, create_body(stackscript_id=script["id"])),
        ("POST", f"{path}/rebuild", {"image": image, "root_pass": "correct-Horse7battery"}),
        ("POST", f"{path}/disks", {"label": "d", "size": 300, "image": image}),
    ):
        assert refused(await child.send(method, where, body), "entities"), (where, body)
    assert (await client.get(INSTANCES))["results"] == 2
    assert (await client.get(f"{path}/configs/{config['id']}")) == config


async def test_nodes_at_another_instance(client: Client) -> None:
    found = await balancer(client)
    config = await client.post(f"{BALANCERS}/{found['id']}/configs", {"port": 80})
    _, address = await private(client)
    child = narrowed(client, only("nodebalancer", found))
    path = f"{BALANCERS}/{found['id']}/configs/{config['id']}"
    for each in (address, "192.168.255.254"):  # The other one is nobody's, which is not told.
        body = {"label": "web", "address": f"{each}:80"}
        assert refused(await child.send("POST", f"{path}/nodes", body), "entities")
        assert refused(await child.send("POST", f"{path}/rebuild", {"nodes": [body]}), "entities")
    assert (await client.get(f"{path}/nodes"))["results"] == 0


async def test_a_restore_to_another_instance(client: Client) -> None:
    mine, other = await enabled(client), f"{INSTANCES}/{(await made(client))['id']}"
    backup = await saved(client, mine)
    child = narrowed(client, {"entities": {"compute": [int(mine.rpartition("/")[2])]}})
    body = {"compute_id": int(other.rpartition("/")[2]), "overwrite": True}
    path = f"/backups/{backup['id']}/restore"
    assert refused(await child.send("POST", mine + path, body), "entities")
    assert refused(await child.send("POST", other + path, body), "entities")
    body = create_body(backup_id=backup["id"], image=OMITTED, root_pass=OMITTED)
    by_label = narrowed(client, {"label_prefix": "ci-"})
    answer = await by_label.send("POST", INSTANCES, {**body, "label": "ci-copy"})
    assert refused(answer, "label_prefix")


async def test_addresses_of_another_instance(client: Client, pair: tuple[Json, Json]) -> None:
    mine, other = pair
    child = narrowed(client, only("compute", mine))
    address = other["ipv4"][0]
    path = f"{INSTANCES}/{mine['id']}/ips/{address}"
    for method, body in (("GET", None), ("PUT", {"rdns": None}), ("DELETE", None)):
        assert (await child.send(method, path, body)).status == 404
        answer = await child.send(method, f"/networking/ips/{address}", body)
        assert answer.status == 405 or refused(answer, "entities")


async def test_a_fork_of_another_database(client: Client, roost: Roost, account: Account) -> None:
    made_id = await DATABASES.shown["view_mysql_database"].make(client, roost, account, "")
    child = narrowed(client, {"label_prefix": "ci-"})
    body = {
        "label": "ci-copy",
        "type": "g1-nano-1",
        "region": "us-lake",
        "engine": "mysql/8.0.30",
        "fork": {"source": made_id},
    }
    answer = await child.send("POST", "/databases/mysql/instances", body)
    assert answer.status in (400, 403)
    assert answer.status == 400 or refused(answer, "label_prefix")
    path = f"/databases/mysql/instances/{made_id}"
    for method, suffix in (("GET", "/credentials"), ("POST", "/credentials/reset"), ("DELETE", "")):
        assert refused(await child.send(method, path + suffix), "label_prefix")


async def test_private_images_and_what_everybody_sees(
    client: Client, roost: Roost, account: Account
) -> None:
    image = str(await make_image(client, roost, account, ""))
    child = narrowed(client, {"entities": {"compute": "*"}})
    assert image not in str(await child.get("/images"))
    assert (await child.get("/images"))["results"] > 0
    path = f"/images/{image.replace('/', '%2F')}"
    assert refused(await child.send("GET", path), "entities")
    assert refused(await child.send("GET", f"/images/{image}"), "entities")
    assert await child.get("/images/roost%2Fdebian12")
    assert await child.get("/regions")
    own = narrowed(client, {"entities": {"image": [int(image.partition("/")[2])]}})
    assert (await own.get(path))["id"] == image


async def test_a_kept_answer_is_for_the_same_token(client: Client) -> None:
    """Else a key would give what another token was answered."""
    headers = {"Idempotency-Key": "the-same"}
    body = {**VOLUME, "label": "ci-a"}
    first = narrowed(client, {"label_prefix": "ci-"})
    answer = await first.send("POST", VOLUMES, body, headers=headers)
    assert answer.status == 200
    assert (await first.send("POST", VOLUMES, body, headers=headers)).raw == answer.raw
    for other in (client, narrowed(first, {"tags": ["blue"]}), narrowed(client, {"tags": ["a"]})):
        again = await other.send("POST", VOLUMES, body, headers=headers)
        assert again.problems == [("Idempotency-Key", "This key was used for another request")]
    assert (await client.get(VOLUMES))["results"] == 1


async def test_a_restricted_users_grants_hold_too(
    client: Client,
    nobody: Client,
    roost: Roost,
    account: Account,
    new_user: NewUser,
    new_token: NewToken,
) -> None:
    one, two, three = [
        await client.post(VOLUMES, {**VOLUME, "label": f"v{number}"}) for number in range(3)
    ]
    user = await new_user(account, restricted=True)
    for row in (one, two):
        await give(roost.store, user.user_id, "volume", row["id"], "read_only")
    theirs = nobody.as_user(await new_token(user))
    child = narrowed(theirs, {"entities": {"volume": [two["id"], three["id"]]}})
    assert await ids(child, VOLUMES) == [two["id"]]
    assert await child.get(f"{VOLUMES}/{two['id']}")
    assert refused(await child.send("GET", f"{VOLUMES}/{one['id']}"), "entities")
    answer = await child.send("GET", f"{VOLUMES}/{three['id']}")
    assert (answer.status, answer.problems) == (403, [(None, "Unauthorized")])
    answer = await child.send("PUT", f"{VOLUMES}/{two['id']}", {"label": "mine"})
    assert (answer.status, answer.problems) == (403, [(None, "Unauthorized")])


async def test_vpcs(client: Client) -> None:
    one, two = await made_vpc(client), await made_vpc(client)
    child = narrowed(client, only("vpc", one))
    assert await ids(child, VPCS) == [one["id"]]
    assert refused(await child.send("GET", f"{VPCS}/{two['id']}/ips"), "entities")
    await made(client, interfaces=[inside(two)])
    assert (await child.get(f"{VPCS}/ips"))["results"] == 0


async def test_explanations_name_the_restriction(client: Client, pair: tuple[Json, Json]) -> None:
    mine, other = pair
    child = narrowed(client, only("compute", mine), {"methods": ["GET", "PUT"]})
    for method, path, restriction in (
        ("GET", f"{INSTANCES}/{mine['id']}", None),
        ("GET", f"{INSTANCES}/{other['id']}", "entities"),
        ("DELETE", f"{INSTANCES}/{mine['id']}", "methods"),
        ("GET", "/account", "entities"),
        ("PUT", "/account", "no narrowed token changes the account or the profile"),
    ):
        found = await child.get(f"/profile/explain?method={method}&path={path}")
        assert (found["restricted_by"], found["allowed"]) == (restriction, restriction is None)
