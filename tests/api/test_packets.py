"""POST /networking/explain: what becomes of a packet (docs/firewalls.md)."""

import random
from collections.abc import Iterator
from ipaddress import ip_address

import pytest

from roost.app.roost import Roost
from roost.engines.simulated.firewalls import Packet
from tests.api.conftest import Account, NewToken, NewUser
from tests.support.client import Client, Json
from tests.support.firewalls import STRANGER, firewall_engine, guarded, in_force, rule, rules
from tests.support.instances import made
from tests.support.volumes import running_instance
from tests.support.vpcs import inside, made_vpc, subnet

EXPLAIN = "/networking/explain"
_PACKETS = 300


def packet(source: str, destination: str, port: int | None = 22, **more: object) -> Json:
    body = {"source": source, "destination": destination, "protocol": "TCP", "port": port, **more}
    return {name: value for name, value in body.items() if value is not None}


async def test_which_rule_decides(client: Client) -> None:
    instance = await running_instance(client)
    given = rules(rule(ports="22", label="ssh", action="DROP"), rule(ports="1-100"))
    firewall = await guarded(client, rules=given, devices={"computes": [instance["id"]]})
    await in_force(client, firewall)
    address = instance["ipv4"][0]
    found = await client.post(EXPLAIN, packet(STRANGER, address))
    assert not found["passes"]
    assert found["reason"] == "Rule 1 of the inbound rules of firewall guard drops it."
    step = found["steps"][-1]
    assert step["entity"]["id"] == firewall["id"]
    assert step["rule"] == {
        "direction": "inbound",
        "position": 1,
        "label": "ssh",
        "action": "DROP",
    }
    found = await client.post(EXPLAIN, packet(STRANGER, address, 80))
    assert found["passes"]
    assert found["steps"][-1]["rule"]["position"] == 2
    found = await client.post(EXPLAIN, packet(STRANGER, address, 443))
    assert found["reason"] == "No inbound rule of firewall guard matches; its policy drops it."
    found = await client.post(EXPLAIN, packet(address, STRANGER, 443))
    assert found["passes"]


async def test_by_slaac_address_and_range(client: Client) -> None:
    instance = await running_instance(client)
    slaac = instance["ipv6"].partition("/")[0]
    body = {"prefix_length": 64, "compute_id": instance["id"]}
    network = (await client.post("/networking/ipv6/ranges", body))["range"]
    within = str(ip_address(network.partition("/")[0]) + 77)
    for address in (slaac, within):
        found = await client.post(EXPLAIN, packet(address, "2001:db8:ffff::1"))
        stages = {step["stage"]: step for step in found["steps"]}
        assert stages["source"]["entity"]["id"] == instance["id"]
        assert stages["spoofing"]["passes"]


async def test_an_address_that_the_sender_does_not_have(client: Client) -> None:
    one, other = await running_instance(client), await running_instance(client)
    body = packet(other["ipv4"][0], STRANGER, compute_id=one["id"])
    found = await client.post(EXPLAIN, body)
    assert (found["passes"], found["steps"][-1]["stage"]) == (False, "spoofing")


async def test_an_instance_that_is_off(client: Client) -> None:
    instance = await made(client)
    found = await client.post(EXPLAIN, packet(STRANGER, instance["ipv4"][0]))
    assert found["reason"] == f"Compute {instance['label']} is offline."


async def test_it_says_what_the_engine_does(client: Client, roost: Roost) -> None:
    """Random rules and packets."""
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    instance = await running_instance(client)
    drawn = rules(*_rules(chance), outbound=tuple(_rules(chance)))
    firewall = await guarded(client, rules=drawn, devices={"computes": [instance["id"]]})
    await in_force(client, firewall)
    ends = [instance["ipv4"][0], "203.0.113.7"]
    decisions = set()
    for _ in range(_PACKETS):
        source, destination = chance.sample(ends, 2)
        protocol, port = chance.choice((("TCP", chance.randint(1, 9)), ("ICMP", None)))
        found = await client.post(EXPLAIN, packet(source, destination, port, protocol=protocol))
        sent = Packet(source, destination, "TCP" if protocol == "TCP" else "ICMP", port)
        assert found["passes"] == await firewall_engine(roost).passes(sent), (seed, sent)
        decisions.add((found["passes"], destination))
    assert len(decisions) > 1


def _rules(chance: random.Random) -> Iterator[Json]:
    for _ in range(chance.randint(4, 8)):
        action, low = chance.choice(("ACCEPT", "DROP")), chance.randint(1, 8)
        mask = chance.choice((0, 24, 31, 32))
        addresses = {"ipv4": [f"203.0.113.{chance.randint(4, 9)}/{mask}"]}
        if chance.random() < 0.3:
            yield rule(protocol="ICMP", ports=None, addresses=addresses, action=action)
        else:
            yield rule(ports=f"{low}-{low + 2}", addresses=addresses, action=action)


@pytest.mark.parametrize(
    ("changes", "field", "reason"),
    [
        ({"source": "no"}, "source", "Must be an IPv4 or IPv6 address"),
        ({"source": "fe80::1%eth0"}, "source", "Must be an IPv4 or IPv6 address"),
        ({"source": "1" * 5000}, "source", None),
        ({"destination": "192.0.2.0/24"}, "destination", "Must be an IPv4 or IPv6 address"),
        ({"destination": "2001:db8::1"}, "destination", "Must be of the same family as the source"),
        ({"protocol": "GRE", "port": None}, "protocol", None),
        ({"protocol": "ICMP"}, "port", "Is given with TCP and UDP, and with nothing else"),
        ({"port": None}, "port", "Is given with TCP and UDP, and with nothing else"),
        ({"port": 0}, "port", None),
        ({"port": 65536}, "port", None),
        ({"compute_id": 0}, "compute_id", None),
        ({"compute_id": 999_999_999}, "compute_id", None),
        ({}, "source", "Neither source nor destination is an address of an instance of yours"),
    ],
)
async def test_refused(client: Client, changes: Json, field: str, reason: str | None) -> None:
    body = packet("198.51.100.7", "198.51.100.8") | changes
    sent = {name: value for name, value in body.items() if value is not None}
    answer = await client.send("POST", EXPLAIN, sent)
    assert answer.status == 400
    ((found, said),) = answer.problems
    assert found == field
    assert reason in (None, said)


async def test_what_others_have_is_not_told(client: Client, stranger: Client) -> None:
    """Neither that an address is somebody's nor which firewall is before it."""
    mine, theirs = await running_instance(client), await running_instance(stranger)
    closed = rules(policy="DROP")
    firewall = await guarded(stranger, rules=closed, devices={"computes": [theirs["id"]]})
    await in_force(stranger, firewall)
    found = await client.post(EXPLAIN, packet(mine["ipv4"][0], theirs["ipv4"][0]))
    assert found["passes"]
    assert found["steps"][-1] == {
        "stage": "destination",
        "passes": True,
        "reason": f"{theirs['ipv4'][0]} is of no instance of yours; what filters it is not told.",
        "entity": None,
        "rule": None,
    }
    answer = await client.send("POST", EXPLAIN, packet(STRANGER, theirs["ipv4"][0]))
    assert answer.status == 400
    body = packet(theirs["ipv4"][0], STRANGER, compute_id=theirs["id"])
    assert (await client.send("POST", EXPLAIN, body)).problems[0][0] == "compute_id"


async def test_restricted_users_see_what_is_granted(
    client: Client, nobody: Client, account: Account, new_user: NewUser, new_token: NewToken
) -> None:
    instance = await running_instance(client)
    firewall = await guarded(client, devices={"computes": [instance["id"]]})
    user = await new_user(account, restricted=True)
    theirs, body = nobody.as_user(await new_token(user)), packet(STRANGER, instance["ipv4"][0])
    grants = f"/account/users/{user.username}/grants"
    assert (await theirs.send("POST", EXPLAIN, body)).status == 403
    await client.put(grants, {"compute": [{"id": instance["id"], "permissions": "read_only"}]})
    assert (await theirs.send("POST", EXPLAIN, body)).status == 403
    await client.put(grants, {"firewall": [{"id": firewall["id"], "permissions": "read_only"}]})
    assert (await theirs.post(EXPLAIN, body))["passes"]


async def test_within_a_vpc_and_out_of_it(client: Client, stranger: Client) -> None:
    vpc = await made_vpc(client, subnets=[subnet(1), subnet(2)])
    given = rules(rule(ports="22", label="ssh"))
    natted = await _in_vpc(client, vpc, 0, ipv4={"nat_1_1": "any", "vpc": "10.0.1.5"})
    plain = await _in_vpc(client, vpc, 1, ipv4={"vpc": "10.0.2.5"}, ip_ranges=["10.9.0.0/24"])
    firewall = await guarded(client, rules=given, devices={"computes": [plain["id"]]})
    await in_force(client, firewall)

    async def last(source: str, destination: str, port: int = 22, **more: object) -> Json:
        sent = packet(source, destination, port, vpc_id=vpc["id"], **more)
        return (await client.post(EXPLAIN, sent))["steps"][-1]

    label = vpc["label"]
    for source, destination, port, passes, stage, reason in (
        ("10.0.1.5", "10.0.2.5", 22, True, "inbound", "Rule 1 of"),
        ("10.0.1.5", "10.9.0.7", 22, True, "inbound", "Rule 1 of"),
        ("10.0.1.5", "10.0.2.5", 80, False, "inbound", "No inbound rule of"),
        ("10.0.1.6", "10.0.2.5", 22, False, "source", "No instance has 10.0.1.6"),
        ("10.0.1.5", "10.0.2.6", 22, False, "destination", "No instance has 10.0.2.6"),
        ("10.0.1.5", STRANGER, 80, True, "destination", f"{STRANGER} is of no instance"),
        ("10.0.2.5", STRANGER, 80, False, "route", "10.0.2.5 has no public address"),
    ):
        step = await last(source, destination, port)
        assert (step["passes"], step["stage"]) == (passes, stage), (source, destination, step)
        assert step["reason"].startswith(reason)
    step = await last("10.9.0.7", "10.0.1.5")
    assert step["stage"] == "inbound"
    step = await last("10.0.2.5", "10.0.1.5", compute_id=natted["id"])
    assert (step["passes"], step["stage"]) == (False, "spoofing")
    sent = packet("10.0.1.5", STRANGER, vpc_id=vpc["id"])
    route = (await client.post(EXPLAIN, sent))["steps"][-2]
    assert route["reason"] == f"It leaves VPC {label} as {natted['ipv4'][0]}."
    answer = await stranger.send("POST", EXPLAIN, sent)
    assert [field for field, _ in answer.problems] == ["vpc_id"]


async def _in_vpc(client: Client, vpc: Json, at: int, **changes: object) -> Json:
    interface = inside(vpc, at, primary=True, **changes)
    return await running_instance(client, interfaces=[interface])
