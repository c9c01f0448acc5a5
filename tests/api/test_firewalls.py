"""Firewalls: rules, status and devices, and what engines make of them (spec B firewalls)."""

from collections.abc import Collection

import pytest

from roost.app.roost import Roost
from roost.resources.firewalls import device_queries
from roost.resources.firewalls.apply_service import put_in_force
from roost.resources.firewalls.engine import FirewallSpec
from roost.store import Queries
from tests.api.conftest import Account, NewToken, NewUser
from tests.support.client import Client, Json, until
from tests.support.firewalls import (
    ALL,
    FIREWALLS,
    events_of,
    filters,
    firewall_body,
    firewall_engine,
    guarded,
    in_force,
    reaches,
    rule,
    rules,
)
from tests.support.instances import INSTANCES, create_body, made
from tests.support.volumes import failing, fault_plan

CREATED = ("firewall_create", "finished")
LABEL = (
    "Must begin and end with a letter or number, and hold only letters, numbers, hyphens, "
    "underscores and periods, none of the last three twice in a row"
)
PORTS = "Must be ports from 1 to 65535 and ranges of them, with commas between"


@pytest.mark.spec(
    "B firewall record",
    "B firewall created",
    "B firewall rules",
    "B firewalls create",
    "B firewalls view",
    "B firewalls list",
    "B events firewall_create",
    "B networking 1 interfaces",
)
async def test_create_and_view(client: Client, roost: Roost) -> None:
    instance = await made(client, private_ip=True)
    given = rules(rule(ports="22, 80", label="web", description="all"), rule(ports=None))
    devices = {"computes": [instance["id"], instance["id"]]}
    row = await guarded(client, rules=given, tags=["blue"], devices=devices)
    assert row == {
        "id": row["id"],
        "label": "guard",
        "created": row["created"],
        "updated": row["created"],
        "status": "enabled",
        "rules": {**given, "version": 1, "fingerprint": row["rules"]["fingerprint"]},
        "tags": ["blue"],
        "entities": [
            {
                "label": instance["label"],
                "id": instance["id"],
                "type": "compute",
                "url": f"/v4/compute/instances/{instance['id']}",
            }
        ],
    }
    assert await client.get(f"{FIREWALLS}/{row['id']}") == row
    assert (await client.get(FIREWALLS))["data"] == [row]
    assert (await client.get(f"{INSTANCES}/{instance['id']}/firewalls"))["data"] == [row]
    assert await in_force(client, row) == [CREATED]
    (held,) = [each for each in await firewall_engine(roost).list() if each.id == row["id"]]
    assert held.addresses == {*instance["ipv4"], instance["ipv6"].partition("/")[0]}


@pytest.mark.spec("B firewalls devices", "B firewalls update")
async def test_devices_come_and_go(client: Client, roost: Roost) -> None:
    instance = await made(client, label="web-1")
    row = await guarded(client, rules=rules())
    path = f"{FIREWALLS}/{row['id']}/devices"
    assert (await client.get(path))["data"] == []
    device = await client.post(path, {"id": instance["id"], "type": "compute"})
    assert device == {
        "id": device["id"],
        "created": device["created"],
        "updated": device["created"],
        "entity": {
            "label": "web-1",
            "id": instance["id"],
            "type": "compute",
            "url": f"/v4/compute/instances/{instance['id']}",
        },
    }
    assert (await client.get(path))["data"] == [device]
    assert await client.get(f"{path}/{device['id']}") == device
    assert await in_force(client, row) == [CREATED, ("firewall_device_add", "finished")]
    assert not await reaches(roost, instance, 22)
    again = await client.send("POST", path, {"id": instance["id"], "type": "compute"})
    reason = f"Compute {instance['id']} is a device of this firewall already"
    assert (again.status, again.problems) == (400, [("id", reason)])
    await client.delete(f"{path}/{device['id']}")
    assert (await client.send("GET", f"{path}/{device['id']}")).status == 404
    assert (await client.send("DELETE", f"{path}/{device['id']}")).status == 404
    assert (await in_force(client, row))[-1] == ("firewall_device_remove", "finished")
    assert await reaches(roost, instance, 22)
    (*_, event) = await events_of(client, row["id"])
    assert event["secondary_entity"]["id"] == instance["id"]


@pytest.mark.spec("B firewall order", "B firewall rule action first", "B firewall policies")
async def test_rules_are_replaced_and_hold(client: Client, roost: Roost) -> None:
    instance = await made(client)
    row = await guarded(client, devices={"computes": [instance["id"]]})
    path = f"{FIREWALLS}/{row['id']}/rules"
    assert await client.get(path) == row["rules"]
    await in_force(client, row)
    assert await reaches(roost, instance, 22)
    assert not await reaches(roost, instance, 23)
    new = rules(
        rule(action="DROP", addresses={"ipv4": ["203.0.113.0/24"]}),
        rule(ports="20-30"),
        policy="ACCEPT",
    )
    said = await client.put(path, new)
    assert said == {**new, "version": 2, "fingerprint": said["fingerprint"]}
    assert said["fingerprint"] != row["rules"]["fingerprint"]
    assert (await in_force(client, row))[-1] == ("firewall_rules_update", "finished")
    assert not await reaches(roost, instance, 22)
    assert await reaches(roost, instance, 22, source="192.0.2.1")
    assert await reaches(roost, instance, 443)
    assert await client.put(path, said) == said
    assert len(await events_of(client, row["id"])) == 2
    shorter = await client.put(path, {"outbound": [rule(protocol="ICMP", ports=None)]})
    outbound = [rule(protocol="ICMP", ports=None)]
    assert shorter == {**shorter, **rules(policy="ACCEPT"), "outbound": outbound, "version": 3}
    assert (await client.get(f"{FIREWALLS}/{row['id']}"))["rules"] == shorter


@pytest.mark.spec(
    "B firewall status",
    "B firewall disabled",
    "B firewall enabled",
    "B networking 1 services",
)
async def test_one_enabled_firewall_for_each_instance(client: Client, roost: Roost) -> None:
    first, second = [await made(client) for _ in range(2)]
    devices = {"computes": [first["id"], second["id"]]}
    one = await guarded(client, label="one", devices=devices, rules=rules())
    await in_force(client, one)
    reason = f"Compute {first['id']} has another enabled firewall"
    body = firewall_body(label="two", devices={"computes": [first["id"]]})
    answer = await client.send("POST", FIREWALLS, body)
    assert (answer.status, answer.problems) == (400, [("devices.computes", reason)])
    two = await guarded(client, label="two", rules=rules(policy="ACCEPT"))
    path = f"{FIREWALLS}/{two['id']}"
    device = {"id": first["id"], "type": "compute"}
    answer = await client.send("POST", f"{path}/devices", device)
    assert (answer.status, answer.problems) == (400, [("id", reason)])
    assert (await client.put(path, {"status": "disabled"}))["status"] == "disabled"
    await client.post(f"{path}/devices", device)
    answer = await client.send("PUT", path, {"status": "enabled"})
    assert (answer.status, answer.problems) == (400, [("status", reason)])
    assert not await reaches(roost, first, 22)
    await client.put(f"{FIREWALLS}/{one['id']}", {"status": "disabled"})
    assert (await client.put(path, {"status": "enabled"}))["status"] == "enabled"
    assert (await in_force(client, one))[-1] == ("firewall_disable", "finished")
    assert (await in_force(client, two))[-1] == ("firewall_enable", "finished")
    assert [each.id for each in await firewall_engine(roost).list()][-1] == two["id"]
    assert await reaches(roost, first, 22)
    assert await reaches(roost, second, 22)
    assert not await filters(roost, second)


async def test_names_and_tags(client: Client) -> None:
    one, _ = [await guarded(client, label=label) for label in ("one", "two")]
    path = f"{FIREWALLS}/{one['id']}"
    taken = (400, [("label", "Label must be unique among your Cloud Firewalls")])
    answer = await client.send("PUT", path, {"label": "two"})
    assert (answer.status, answer.problems) == taken
    row = await client.put(path, {"label": "a.b_c-d", "tags": ["green"], "status": "enabled"})
    assert (row["label"], row["tags"], row["status"]) == ("a.b_c-d", ["green"], "enabled")
    assert await client.put(path, row) == row
    assert await in_force(client, one) == [CREATED, ("firewall_update", "notification")]
    assert (await client.get("/tags/green"))["data"] == [{"type": "firewall", "data": row}]


async def test_one_that_is_deleted_while_others_bring_it_is_not_left(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A guest that starts brings what filters it, beside the jobs of its firewall."""
    instance = await made(client, booted=True)
    wall = await guarded(client, devices={"computes": [instance["id"]]})
    await in_force(client, wall)
    engine, bring = firewall_engine(roost), firewall_engine(roost).apply

    async def late(spec: FirewallSpec) -> None:
        monkeypatch.setattr(engine, "apply", bring)
        await client.delete(f"{FIREWALLS}/{wall['id']}")
        await in_force(client, wall)
        await bring(spec)

    monkeypatch.setattr(engine, "apply", late)
    await put_in_force(roost.store, roost.services, wall["id"])
    assert wall["id"] not in [state.id for state in await engine.list()]


async def test_one_that_is_deleted_when_a_device_has_been_brought_is_not_left(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job of the device has read the row for the last time, and is about to end."""
    instance, wall = await made(client), await guarded(client)
    await in_force(client, wall)
    beside = device_queries.enabled_beside

    async def late(db: Queries, guests: Collection[int], firewall_id: int) -> list[int]:
        found = await beside(db, guests, firewall_id)
        if firewall_id == wall["id"]:
            monkeypatch.setattr(device_queries, "enabled_beside", beside)
            await client.delete(f"{FIREWALLS}/{wall['id']}")
        return found

    monkeypatch.setattr(device_queries, "enabled_beside", late)
    device = {"type": "compute", "id": instance["id"]}
    await client.post(f"{FIREWALLS}/{wall['id']}/devices", device)
    assert (await in_force(client, wall))[-1] == ("firewall_delete", "finished")
    assert wall["id"] not in [state.id for state in await firewall_engine(roost).list()]


async def test_a_deleted_one_is_gone_at_once(client: Client, roost: Roost) -> None:
    instance = await made(client)
    row = await guarded(client, rules=rules(), devices={"computes": [instance["id"]]})
    path = f"{FIREWALLS}/{row['id']}"
    await in_force(client, row)
    await client.delete(path)
    for each in (path, f"{path}/rules", f"{path}/devices"):
        assert (await client.send("GET", each)).status == 404
    assert (await client.get(f"{INSTANCES}/{instance['id']}/firewalls"))["data"] == []
    await guarded(client, label=row["label"], devices={"computes": [instance["id"]]})
    assert (await in_force(client, row))[-1] == ("firewall_delete", "finished")
    held = "select count(*) from firewall where id = $1"
    assert await roost.store.fetchval(held, row["id"]) == 0


@pytest.mark.spec("B compute create firewall")
async def test_an_instance_begins_behind_one(client: Client, roost: Roost) -> None:
    row = await guarded(client, rules=rules())
    body = create_body(firewall_id=row["id"], booted=True, label="web-1")
    created = await client.post(INSTANCES, body)
    instance = await until(
        lambda: client.get(f"{INSTANCES}/{created['id']}"),
        lambda instance: instance["status"] == "running",
    )
    assert not await reaches(roost, instance, 22)
    found = (await client.get(f"{INSTANCES}/{instance['id']}/firewalls"))["data"]
    assert [each["id"] for each in found] == [row["id"]]
    assert (await in_force(client, row))[-1] == ("firewall_device_add", "finished")


async def test_a_guest_does_not_start_without_its_firewall(client: Client, roost: Roost) -> None:
    instance = await made(client)
    row = await guarded(client, rules=rules(), devices={"computes": [instance["id"]]})
    await in_force(client, row)
    await firewall_engine(roost).lose(row["id"])
    assert await reaches(roost, instance, 22)
    await fault_plan(roost).fail("firewall_apply", "the host is full", 1)
    await client.post(f"{INSTANCES}/{instance['id']}/boot")
    await until(
        lambda: client.get(f"{INSTANCES}/{instance['id']}"),
        lambda instance: instance["status"] == "running",
    )
    assert not await reaches(roost, instance, 22)


async def test_a_fault_is_told_and_the_watch_goes_on(client: Client, roost: Roost) -> None:
    instance = await made(client)
    async with failing(roost, "firewall_apply", "the kernel refuses"):
        row = await guarded(client, rules=rules(), devices={"computes": [instance["id"]]})
        rows = await until(
            lambda: events_of(client, row["id"]),
            lambda rows: "the kernel refuses" in rows[0]["message"],
        )
        assert rows[0]["status"] in ("started", "failed")
        assert await reaches(roost, instance, 22)
    assert await in_force(client, row) == [CREATED]
    assert not await reaches(roost, instance, 22)


@pytest.mark.spec(
    "B firewall label",
    "B firewall label unique",
    "B firewall label characters",
    "B firewall rule action",
    "B firewall rule addresses",
    "B firewall rule address",
    "B firewall rule description",
    "B firewall rule label",
    "B firewall rule ports",
    "B firewall rule port",
    "B firewall rule all ports",
    "B firewall rule protocol",
    "B limits firewall ports",
    "B limits firewall rules",
    "B limits firewall addresses",
)
@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({"label": None}, [("label", "label is required")]),
        ({"label": "ab"}, [("label", "Length must be 3-32 characters")]),
        ({"label": "a" * 33}, [("label", "Length must be 3-32 characters")]),
        ({"label": "-abc"}, [("label", LABEL)]),
        ({"label": "abc."}, [("label", LABEL)]),
        ({"label": "a__b"}, [("label", LABEL)]),
        ({"label": "a b"}, [("label", LABEL)]),
        ({"rules": None}, [("rules", "rules is required")]),
        (
            {"rules": {}},
            [
                ("rules.inbound_policy", "inbound_policy is required"),
                ("rules.outbound_policy", "outbound_policy is required"),
            ],
        ),
        (
            {"rules": rules(policy="MAYBE")},
            [("rules.inbound_policy", "Must be one of ACCEPT, DROP")],
        ),
        (
            {"rules": rules(*[rule()] * 13, outbound=(rule(),) * 13)},
            [("rules.outbound", "A firewall has at most 25 rules, inbound and outbound together")],
        ),
        ({"rules": rules(*[rule()] * 26)}, [("rules.inbound", "Length must be 0-25 items")]),
        (
            {"devices": {"nodebalancers": [1]}},
            [("devices.nodebalancers", "nodebalancers is not valid")],
        ),
        ({"devices": {"computes": [9]}}, [("devices.computes", "computes is not valid")]),
    ],
)
async def test_what_is_refused(
    client: Client, changes: Json, problems: list[tuple[str, str]]
) -> None:
    answer = await client.send("POST", FIREWALLS, firewall_body(**changes))
    assert (answer.status, answer.problems) == (400, problems)
    assert (await client.get(FIREWALLS))["results"] == 0


@pytest.mark.parametrize(
    ("changes", "field", "reason"),
    [
        ({"protocol": None}, "protocol", "protocol is required"),
        ({"protocol": "GRE"}, "protocol", "Must be one of TCP, UDP, ICMP, IPENCAP"),
        ({"action": None}, "action", "action is required"),
        ({"action": "drop"}, "action", "Must be one of ACCEPT, DROP"),
        ({"addresses": None}, "addresses", "addresses is required"),
        ({"addresses": {}}, "addresses", "Must have ipv4, ipv6 or both"),
        ({"addresses": {"ipv4": []}}, "addresses.ipv4", "Length must be 1-255 items"),
        (
            {"addresses": {"ipv4": ["10.0.0.0/8"] * 128, "ipv6": ["::/0"] * 128}},
            "addresses.ipv6",
            "A rule has at most 255 addresses, IPv4 and IPv6 together",
        ),
        (
            {"addresses": {"ipv4": ["10.0.0.1"]}},
            "addresses.ipv4[0]",
            "Must be an IPv4 address and its mask, as ip/mask",
        ),
        (
            {"addresses": {"ipv6": ["::/0", "fe80::1%eth0/64"]}},
            "addresses.ipv6[1]",
            "Must be an IPv6 address and its mask, as ip/mask",
        ),
        ({"ports": "0"}, "ports", PORTS),
        ({"protocol": "ICMP"}, "ports", "Ports are for TCP and UDP only"),
        ({"label": "ab"}, "label", "Length must be 3-32 characters"),
        ({"description": ""}, "description", "Length must be 1-100 characters"),
        ({"description": "x" * 101}, "description", "Length must be 1-100 characters"),
    ],
)
async def test_what_is_refused_of_a_rule(
    client: Client, changes: Json, field: str, reason: str
) -> None:
    body = firewall_body(rules=rules(rule(), rule(**changes)))
    answer = await client.send("POST", FIREWALLS, body)
    assert (answer.status, answer.problems) == (400, [(f"rules.inbound[1].{field}", reason)])


async def test_the_longest_rules(client: Client) -> None:
    addresses = {
        "ipv4": [f"10.{n}.0.0/255.255".replace("/255.255", "/16") for n in range(100)],
        "ipv6": [f"2001:db8:{n:x}:0:ffff:ffff:ffff:ffff/128" for n in range(155)],
    }
    ports = ", ".join(str(port) for port in range(65_000, 65_015))
    given = rules(*[rule(addresses=addresses, ports=ports)] * 25)
    row = await guarded(client, rules=given)
    assert row["rules"] == {**row["rules"], **given}


@pytest.mark.spec("B networking 1", "A auth 4")
async def test_restricted_users_need_the_instances(
    client: Client, nobody: Client, account: Account, new_user: NewUser, new_token: NewToken
) -> None:
    instance = await made(client)
    user = await new_user(account, restricted=True)
    theirs = nobody.as_user(await new_token(user))
    grants = f"/account/users/{user.username}/grants"
    await client.put(grants, {"global": {"add_firewalls": True}})
    body = firewall_body(devices={"computes": [instance["id"]]})
    assert (await theirs.send("POST", FIREWALLS, body)).status == 403
    row = await guarded(theirs)
    path = f"{FIREWALLS}/{row['id']}"
    device = {"id": instance["id"], "type": "compute"}
    assert (await theirs.send("POST", f"{path}/devices", device)).status == 403
    granted = [{"id": instance["id"], "permissions": "read_write"}]
    await client.put(grants, {"compute": granted})
    assert (await theirs.post(f"{path}/devices", device))["entity"]["id"] == instance["id"]
    other = await guarded(client, label="other")
    assert (await theirs.get(FIREWALLS))["data"] == [await theirs.get(path)]
    assert (await theirs.send("GET", f"{FIREWALLS}/{other['id']}")).status == 403


@pytest.mark.spec("B networking 1 migration")
async def test_no_firewall_during_a_migration(client: Client, roost: Roost) -> None:
    instance = await made(client)
    sql = "update compute_instance set status = $2 where id = $1"
    await roost.store.execute(sql, instance["id"], "migrating")
    body = firewall_body(devices={"computes": [instance["id"]]})
    answer = await client.send("POST", FIREWALLS, body)
    reason = f"Compute {instance['id']} is being migrated"
    assert (answer.status, answer.problems) == (400, [("devices.computes", reason)])
    await roost.store.execute(sql, instance["id"], "offline")


async def test_a_device_is_of_the_type_that_is_named(client: Client) -> None:
    instance, row = await made(client), await guarded(client)
    body = {"id": instance["id"], "type": "nodebalancer"}
    answer = await client.send("POST", f"{FIREWALLS}/{row['id']}/devices", body)
    assert (answer.status, answer.problems) == (400, [("id", "id is not valid")])


async def test_addresses_of_all_are_everything(client: Client, roost: Roost) -> None:
    instance = await made(client)
    await in_force(
        client,
        await guarded(
            client,
            rules=rules(rule(protocol="TCP", ports="", addresses=ALL)),
            devices={"computes": [instance["id"]]},
        ),
    )
    assert await reaches(roost, instance, 1)
