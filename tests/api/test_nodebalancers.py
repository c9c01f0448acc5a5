"""NodeBalancers over HTTP: their configs, nodes and addresses (reference: NodeBalancers)."""

import re
from datetime import timedelta

import pytest

from roost.app.roost import Roost
from roost.core.planes import Engines
from roost.engines.simulated.firewalls import Packet
from roost.engines.simulated.nodebalancers import SimulatedBalancers
from roost.resources.firewalls.engine import TransportProtocol
from roost.resources.nodebalancers import usage_service
from roost.resources.nodebalancers.apply_service import put_in_force
from roost.resources.nodebalancers.engine import BALANCER_PLANE, BalancerSpec
from roost.resources.nodebalancers.group import GROUP
from roost.settings import MAIN_HOST
from tests.api.conftest import Account, NewToken, NewUser
from tests.support.browser import Browser
from tests.support.certificates import certificate_for
from tests.support.client import Client, Json, until
from tests.support.drift import differences
from tests.support.firewalls import (
    FIREWALLS,
    STRANGER,
    firewall_body,
    firewall_engine,
    in_force,
    rules,
)
from tests.support.instances import INSTANCES, made
from tests.support.nodebalancers import BALANCERS, balancer, private, told

NOT_YOURS = "Must be the private address of a Compute of yours in the region"


def engine(roost: Roost) -> SimulatedBalancers:
    found = roost.services.get(Engines).of(BALANCER_PLANE, "us-lake")
    assert isinstance(found, SimulatedBalancers)
    return found


async def serves(roost: Roost, balancer_id: int) -> bool:
    return await engine(roost).inspect(balancer_id) is not None


async def config_of(client: Client, found: Json, **changes: object) -> str:
    path = f"{BALANCERS}/{found['id']}/configs"
    return f"{path}/{(await client.post(path, changes))['id']}"


async def test_a_nodebalancer_from_its_creation_to_its_end(roost: Roost, client: Client) -> None:
    _, address = await private(client)
    node = {"label": "web-1", "address": f"{address}:80", "weight": 7, "mode": "backup"}
    row = await balancer(client, label="shop", tags=["blue"], configs=[{"nodes": [node]}])
    path = f"{BALANCERS}/{row['id']}"
    assert row == {
        "id": row["id"],
        "label": "shop",
        "region": "us-lake",
        "hostname": row["hostname"],
        "ipv4": row["ipv4"],
        "ipv6": None,
        "client_conn_throttle": 0,
        "transfer": {"in": 0.0, "out": 0.0, "total": 0.0},
        "tags": ["blue"],
        "created": row["created"],
        "updated": row["created"],
    }
    assert row["hostname"].startswith(row["ipv4"].replace(".", "-"))
    assert (await told(client, row["id"], "nodebalancer_create"))["status"] == "finished"
    assert await serves(roost, row["id"])
    assert (await client.get(BALANCERS, filter={"ipv4": row["ipv4"]}))["data"] == [row]
    (config,) = (await client.get(f"{path}/configs"))["data"]
    (held,) = (await client.get(f"{path}/configs/{config['id']}/nodes"))["data"]
    assert held == {
        "id": held["id"],
        "nodebalancer_id": row["id"],
        "config_id": config["id"],
        "status": "Unknown",
        **node,
    }
    changed = await client.put(path, {"label": "shop-2", "client_conn_throttle": 5})
    assert (changed["label"], changed["client_conn_throttle"]) == ("shop-2", 5)
    assert (await told(client, row["id"], "nodebalancer_update"))["status"] == "finished"
    await client.delete(path)
    assert (await client.send("GET", path)).status == 404
    assert (await told(client, row["id"], "nodebalancer_delete"))["status"] == "finished"
    assert not await serves(roost, row["id"])
    sql = (
        "select num_nonnulls(account_id, nodebalancer_id) from ip_address where host(address) = $1"
    )
    assert await roost.store.fetchval(sql, row["ipv4"]) == 0
    found = await differences(roost, GROUP)
    assert [line for line in found if f"NodeBalancer {row['id']} " in line] == []


async def test_its_address_is_the_accounts_and_nobody_moves_it(client: Client) -> None:
    row, instance = await balancer(client), await made(client)
    address = f"/networking/ips/{row['ipv4']}"
    shown = await client.get(address)
    assert (shown["compute_id"], shown["rdns"], shown["public"]) == (None, row["hostname"], True)
    (listed,) = (await client.get("/networking/ips", filter={"address": row["ipv4"]}))["data"]
    assert listed == shown
    named = await client.send("PUT", address, {"rdns": "www.example.com"})
    assert named.problems == [("rdns", "The name of a NodeBalancer's address is its hostname.")]
    assigned = {"address": row["ipv4"], "compute_id": instance["id"]}
    body = {"region": "us-lake", "assignments": [assigned]}
    answer = await client.send("POST", "/networking/ips/assign", body)
    assert answer.problems == [(None, "IP Address not found.")]
    shared = {"compute_id": instance["id"], "ips": [row["ipv4"]]}
    answer = await client.send("POST", "/networking/ips/share", shared)
    assert answer.problems == [("ips[0]", "ips is not valid")]
    path = f"{INSTANCES}/{instance['id']}/ips/{row['ipv4']}"
    assert (await client.send("DELETE", path)).status == 404


async def test_an_address_is_handed_out_again_after_the_end(roost: Roost, client: Client) -> None:
    """And to nobody before."""
    row = await balancer(client)
    await engine(roost)._plane.plan.fail("nodebalancer_remove", "No answer.", 1)
    await client.delete(f"{BALANCERS}/{row['id']}")
    held = "select nodebalancer_id from ip_address where host(address) = $1"
    await until(lambda: roost.store.fetchval(held, row["ipv4"]), lambda found: found is None)
    assert not await serves(roost, row["id"])


async def test_what_is_forgotten_meanwhile_does_not_serve(
    roost: Roost, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two bring it to its engine at once, and one of them after its deletion."""
    row, own = await balancer(client), engine(roost)
    await told(client, row["id"], "nodebalancer_create")
    apply = own.apply

    async def late(spec: BalancerSpec) -> None:
        if spec.id == row["id"]:
            await client.delete(f"{BALANCERS}/{row['id']}")
            await told(client, row["id"], "nodebalancer_delete")
        await apply(spec)

    monkeypatch.setattr(own, "apply", late)
    await put_in_force(roost.store, roost.services, row["id"])
    assert not await serves(roost, row["id"])


async def test_an_instance_that_is_gone_gets_nothing(roost: Roost, client: Client) -> None:
    """Others get its address then. Also when the engine fails meanwhile."""
    instance, address = await private(client)
    found = await balancer(client)
    path = f"{await config_of(client, found)}/nodes"
    node = await client.post(path, {"label": "web-1", "address": f"{address}:80"})
    await told(client, found["id"], "nodebalancer_node_create")
    assert node["id"] in await engine(roost).statuses()
    await engine(roost)._plane.plan.fail("nodebalancer_apply", "No answer.", 1)
    held = f"{INSTANCES}/{instance['id']}"
    await client.delete(held)
    await until(lambda: client.send("GET", held), lambda answer: answer.status == 404)
    assert node["id"] not in await engine(roost).statuses()
    assert (await client.get(path))["data"] == []
    told_of = await told(client, found["id"], "nodebalancer_node_delete")
    assert told_of["secondary_entity"]["id"] == instance["id"]


@pytest.mark.parametrize(
    ("body", "problems"),
    [
        ({"port": 0}, [("port", "Must be 1-65535")]),
        ({"check_timeout": 31}, [("check_timeout", "Must be 1-30")]),
        ({"check_interval": 30}, [("check_interval", "Must be greater than check_timeout")]),
        ({"check": "http"}, [("check_path", "A check by HTTP needs a check_path")]),
        (
            {"check": "http_body", "check_path": "/"},
            [("check_body", "A check of the body needs a check_body")],
        ),
        (
            {"check_path": "/a b"},
            [
                (
                    "check_path",
                    "Must begin with / and hold only printable ASCII characters without spaces",
                )
            ],
        ),
        ({"check_body": "a\nb"}, [("check_body", "Must hold only printable ASCII characters")]),
        (
            {"protocol": "tcp", "stickiness": "http_cookie"},
            [("stickiness", "Cookies are for http and https only")],
        ),
        ({"proxy_protocol": "v1"}, [("proxy_protocol", "The PROXY protocol is for tcp only")]),
        (
            {"protocol": "https"},
            [("ssl_cert", "A config of protocol https needs a certificate")],
        ),
        ({"ssl_key": "key"}, [("ssl_key", "A certificate and its key are sent together")]),
    ],
    ids=str,
)
async def test_a_config_that_cannot_be(
    client: Client, body: Json, problems: list[tuple[str, str]]
) -> None:
    path = f"{BALANCERS}/{(await balancer(client))['id']}/configs"
    answer = await client.send("POST", path, body)
    assert (answer.status, answer.problems) == (400, problems)
    assert (await client.get(path))["data"] == []


async def test_a_port_is_of_one_config(client: Client) -> None:
    found = await balancer(client)
    path, other = await config_of(client, found), await config_of(client, found, port=81)
    taken = [("port", "Another config of the NodeBalancer has this port")]
    again = await client.send("POST", path.rpartition("/")[0], {"port": 80})
    assert (again.status, again.problems) == (400, taken)
    assert (await client.send("PUT", other, {"port": 80})).problems == taken
    body = {"region": "us-lake", "configs": [{"port": 80}, {}]}
    answer = await client.send("POST", BALANCERS, body)
    assert answer.problems == [("configs[1].port", taken[0][1])]


async def test_https_keeps_its_certificate(roost: Roost, client: Client) -> None:
    own, strange = certificate_for("shop.example.com"), certificate_for("shop.example.com")
    certificate, key, other = own.pem, own.key_pem, strange.key_pem
    found = await balancer(client)
    path = f"{BALANCERS}/{found['id']}/configs"
    body = {"protocol": "https", "port": 443, "ssl_cert": certificate, "ssl_key": other}
    answer = await client.send("POST", path, body)
    assert answer.problems == [("ssl_key", "The key is not that of the certificate")]
    assert (await client.get(path))["data"] == []
    made = await client.post(path, {**body, "ssl_key": key})
    shown = ("<REDACTED>", "<REDACTED>", "shop.example.com")
    assert (made["ssl_cert"], made["ssl_key"], made["ssl_commonname"]) == shown
    assert len(made["ssl_fingerprint"]) == 95
    sealed: bytes = await roost.store.fetchval(
        "select private_key from nodebalancer_config where id = $1", made["id"]
    )
    assert key.encode() not in sealed
    # Clients send whole records back.
    again = await client.put(f"{path}/{made['id']}", {**made, "port": 444})
    assert again["ssl_fingerprint"] == made["ssl_fingerprint"]
    assert (await told(client, found["id"], "nodebalancer_config_update"))["status"] == "finished"


async def test_a_node_is_a_private_address_of_ones_own(client: Client, stranger: Client) -> None:
    instance, _ = await private(client)
    _, strange = await private(stranger)
    _, far = await private(client, region="br-south")
    path = f"{await config_of(client, await balancer(client))}/nodes"
    for address in (strange, far, instance["ipv4"][0], "192.168.191.254"):
        body = {"label": "web-1", "address": f"{address}:80"}
        answer = await client.send("POST", path, body)
        assert (answer.status, answer.problems) == (400, [("address", NOT_YOURS)])
    answer = await client.send("POST", path, {"label": "web-1", "address": "192.168.160.5"})
    reason = "Must be a private IPv4 address and a port, as ip:port"
    assert answer.problems == [("address", reason)]
    assert (await client.get(path))["data"] == []


async def test_the_address_of_a_node_stays_with_its_instance(client: Client) -> None:
    instance, address = await private(client)
    path = f"{await config_of(client, await balancer(client))}/nodes"
    node = await client.post(path, {"label": "web-1", "address": f"{address}:80"})
    held = f"{INSTANCES}/{instance['id']}/ips/{address}"
    answer = await client.send("DELETE", held)
    assert answer.status == 400
    await client.delete(f"{path}/{node['id']}")
    await client.delete(held)


async def test_a_config_is_rebuilt_in_one_step(client: Client) -> None:
    (_, first), (_, second) = await private(client), await private(client)
    path = await config_of(client, await balancer(client))
    nodes = [
        await client.post(f"{path}/nodes", {"label": "web-1", "address": f"{each}:80"})
        for each in (first, second)
    ]
    for body, problem in (
        ({"nodes": []}, ("nodes", "Length must be 1-100 items")),
        ({"nodes": [{"label": "a-b", "address": "10.0.0.1:80"}]}, ("nodes[0].address", NOT_YOURS)),
        (
            {"nodes": [{"label": "a-b", "address": f"{first}:80", "id": 1}]},
            ("nodes[0].id", "The config has no such node"),
        ),
    ):
        answer = await client.send("POST", f"{path}/rebuild", body)
        assert (answer.status, answer.problems) == (400, [problem])
    assert (await client.get(f"{path}/nodes"))["data"] == nodes
    # Two swap their addresses, a third one is new.
    wanted = [
        {"label": "web-1", "address": f"{second}:80", "id": nodes[0]["id"]},
        {"label": "web-2", "address": f"{first}:80", "id": nodes[1]["id"], "mode": "drain"},
        {"label": "web-3", "address": f"{first}:81"},
    ]
    rebuilt = await client.post(f"{path}/rebuild", {"algorithm": "leastconn", "nodes": wanted})
    assert rebuilt["algorithm"] == "leastconn"
    rows = (await client.get(f"{path}/nodes"))["data"]
    assert [(row["label"], row["address"], row["mode"]) for row in rows] == [
        ("web-1", f"{second}:80", "accept"),
        ("web-2", f"{first}:80", "drain"),
        ("web-3", f"{first}:81", "accept"),
    ]
    assert [row["id"] for row in rows[:2]] == [node["id"] for node in nodes]


async def test_what_checks_find_is_shown(roost: Roost, client: Client) -> None:
    instance, address = await private(client, booted=True)
    await until(
        lambda: client.get(f"{INSTANCES}/{instance['id']}"), lambda row: row["status"] == "running"
    )
    found = await balancer(client)
    path = await config_of(client, found, check="connection")
    await client.post(f"{path}/nodes", {"label": "web-1", "address": f"{address}:80"})
    await client.post(
        f"{path}/nodes", {"label": "web-2", "address": f"{address}:81", "mode": "reject"}
    )
    await told(client, found["id"], "nodebalancer_node_create")
    config = await until(
        lambda: client.get(path), lambda row: row["nodes_status"] == {"up": 1, "down": 1}
    )
    assert config["check"] == "connection"
    rows = (await client.get(f"{path}/nodes"))["data"]
    assert [row["status"] for row in rows] == ["UP", "DOWN"]


async def test_a_firewall_is_before_it(client: Client) -> None:
    firewall = await client.post(FIREWALLS, firewall_body(label="before"))
    found = await balancer(client, firewall_id=firewall["id"])
    (listed,) = (await client.get(f"{BALANCERS}/{found['id']}/firewalls"))["data"]
    assert listed["id"] == firewall["id"]
    (device,) = (await client.get(f"{FIREWALLS}/{firewall['id']}/devices"))["data"]
    assert (device["entity"]["type"], device["entity"]["id"]) == ("nodebalancer", found["id"])
    other = await client.post(FIREWALLS, firewall_body(label="other"))
    body = {"id": found["id"], "type": "nodebalancer"}
    answer = await client.send("POST", f"{FIREWALLS}/{other['id']}/devices", body)
    reason = f"NodeBalancer {found['id']} has another enabled firewall"
    assert (answer.status, answer.problems) == (400, [("id", reason)])
    await client.delete(f"{FIREWALLS}/{firewall['id']}/devices/{device['id']}")
    device = await client.post(f"{FIREWALLS}/{other['id']}/devices", body)
    await client.delete(f"{BALANCERS}/{found['id']}")
    await told(client, found["id"], "nodebalancer_delete")
    assert (await client.get(f"{FIREWALLS}/{other['id']}/devices"))["data"] == []


@pytest.mark.spec("B networking 1 nodebalancers")
async def test_only_what_comes_in_by_tcp_is_filtered(roost: Roost, client: Client) -> None:
    found = await balancer(client)
    closed = rules(policy="DROP") | {"outbound_policy": "DROP"}
    body = firewall_body(label="closed", rules=closed, devices={"nodebalancers": [found["id"]]})
    await in_force(client, await client.post(FIREWALLS, body))
    filters = firewall_engine(roost)
    cases: tuple[tuple[TransportProtocol, str, str, bool], ...] = (
        ("TCP", STRANGER, found["ipv4"], False),
        ("UDP", STRANGER, found["ipv4"], True),
        ("TCP", found["ipv4"], STRANGER, True),
    )
    for protocol, source, target, passes in cases:
        assert await filters.passes(Packet(source, target, protocol, 80)) is passes


async def test_restricted_users_see_what_is_granted(
    client: Client, nobody: Client, account: Account, new_user: NewUser, new_token: NewToken
) -> None:
    found = await balancer(client)
    restricted = nobody.as_user(await new_token(await new_user(account, restricted=True)))
    assert (await restricted.get(BALANCERS))["data"] == []
    assert (await restricted.send("GET", f"{BALANCERS}/{found['id']}")).status == 403


async def test_what_it_moved_is_charged_and_drawn(
    roost: Roost, client: Client, user_browser: Browser
) -> None:
    found = await balancer(client)
    await told(client, found["id"], "nodebalancer_create")
    path = f"{BALANCERS}/{found['id']}"
    answer = await client.send("GET", f"{path}/stats")
    assert (answer.status, answer.problems) == (
        400,
        [(None, "Stats are unavailable at this time.")],
    )
    assert "Stats are unavailable" in (await user_browser.get(f"/console{path}/stats")).text
    now = roost.clock.now()
    await usage_service.note(
        roost.store, MAIN_HOST, await engine(roost).traffic(), now - timedelta(minutes=5)
    )
    await engine(roost).use(found["id"], connections=600, received=3_000_000, sent=9_000_000)
    await usage_service.note(roost.store, MAIN_HOST, await engine(roost).traffic(), now)
    stats = await client.get(f"{path}/stats")
    ((_, connections),) = stats["data"]["connections"]
    assert connections == 2.0
    assert stats["title"] == f"{found['label']} - day (5 min avg)"
    page = await user_browser.get(f"/console{path}/stats")
    assert f"Statistics of {found['label']}" in page.text
    assert len(re.findall('data-chart="{&#34;', page.text)) == 2
    assert (await client.get(path))["transfer"] == {"in": 3.0, "out": 9.0, "total": 12.0}
