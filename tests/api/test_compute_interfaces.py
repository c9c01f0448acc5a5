"""The interfaces of an instance at its creation (spec B, Network interface object)."""

import json

import pytest

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.support.client import Client, Json
from tests.support.instances import INSTANCES, create_body, held

pytestmark = pytest.mark.spec("B interface object", "B limits interfaces")

VLAN = {"purpose": "vlan", "label": "back-end"}
PUBLIC = {"purpose": "public"}
DASHES = "Must only use ASCII letters, numbers, and dashes, no two dashes in a row"
CIDR = "Must be an IP address with a prefix length"
ONLY_VLAN = "Must be null or empty unless the purpose is vlan"
ONLY_VPC = "Must be null or empty unless the purpose is vpc"

ACCEPTED = [
    [],
    [PUBLIC],
    [VLAN],
    [PUBLIC, VLAN],
    [VLAN, PUBLIC, {"purpose": "vlan", "label": "other"}],
    [{"purpose": "public", "label": None, "ipam_address": None}],
    [{"purpose": "public", "label": "", "ipam_address": "", "ip_ranges": []}],
    [{"purpose": "public", "primary": True}, VLAN],
    [{"purpose": "public", "subnet_id": None, "ipv4": None, "active": True}],
    [{"purpose": "vlan", "label": "a"}],
    [{"purpose": "vlan", "label": "A1-" * 21 + "z"}],
    [{**VLAN, "ipam_address": "10.0.0.1/24"}],
    [{**VLAN, "ipam_address": "10.0.0.1/32"}],
    [{**VLAN, "ipam_address": "fd00::1/64"}],
    [{**VLAN, "ipam_address": ""}],
    [{**VLAN, "primary": False}],
]

ONE_REFUSED = [
    ({}, "purpose", "purpose is required"),
    ({"purpose": None}, "purpose", "purpose is required"),
    ({"purpose": "private"}, "purpose", "Must be one of public, vlan, vpc"),
    ({"purpose": "Public"}, "purpose", "Must be one of public, vlan, vpc"),
    ({"purpose": 1}, "purpose", "Must be one of public, vlan, vpc"),
    ({"purpose": "moon", "label": "x"}, "purpose", "Must be one of public, vlan, vpc"),
    ({"purpose": "vlan"}, "label", "label is required"),
    ({"purpose": "vlan", "label": None}, "label", "label is required"),
    ({"purpose": "vlan", "label": ""}, "label", "label is required"),
    ({"purpose": "vlan", "label": "a" * 65}, "label", "Length must be 1-64 characters"),
    ({"purpose": "vlan", "label": "a--b"}, "label", DASHES),
    ({"purpose": "vlan", "label": "a_b"}, "label", DASHES),
    ({"purpose": "vlan", "label": "a b"}, "label", DASHES),
    ({"purpose": "vlan", "label": "ab\n"}, "label", DASHES),
    ({"purpose": "vlan", "label": "\u0661"}, "label", DASHES),
    ({"purpose": "vlan", "label": 7}, "label", "Must be a string"),
    ({"purpose": "public", "label": "x"}, "label", ONLY_VLAN),
    ({"purpose": "public", "ipam_address": "10.0.0.1/24"}, "ipam_address", ONLY_VLAN),
    ({**VLAN, "ipam_address": "10.0.0.1"}, "ipam_address", CIDR),
    ({**VLAN, "ipam_address": "10.0.0.1/33"}, "ipam_address", CIDR),
    ({**VLAN, "ipam_address": "10.0.0.1/255.255.255.0"}, "ipam_address", CIDR),
    ({**VLAN, "ipam_address": "10.0.0.256/24"}, "ipam_address", CIDR),
    ({**VLAN, "ipam_address": "fe80::1%eth0/64"}, "ipam_address", CIDR),
    ({**VLAN, "ipam_address": "/24"}, "ipam_address", CIDR),
    ({**VLAN, "ipam_address": " 10.0.0.1/24"}, "ipam_address", CIDR),
    ({**VLAN, "ipam_address": ["10.0.0.1/24"]}, "ipam_address", "Must be a string"),
    ({**VLAN, "primary": True}, "primary", "Must be false for a vlan interface"),
    ({**PUBLIC, "primary": "yes"}, "primary", "Must be true or false"),
    ({**PUBLIC, "subnet_id": 7}, "subnet_id", ONLY_VPC),
    ({**VLAN, "subnet_id": 7}, "subnet_id", ONLY_VPC),
    ({**PUBLIC, "subnet_id": "7"}, "subnet_id", "Must be an integer"),
    ({**PUBLIC, "subnet_id": 0}, "subnet_id", f"Must be 1-{2**63 - 1}"),
    ({"purpose": "vpc"}, "subnet_id", "subnet_id is required"),
    ({"purpose": "vpc", "subnet_id": None}, "subnet_id", "subnet_id is required"),
    ({"purpose": "vpc", "subnet_id": 7}, "subnet_id", "subnet_id is not valid"),
    ({**PUBLIC, "ipv4": {"vpc": "10.0.0.5"}}, "ipv4", ONLY_VPC),
    ({**PUBLIC, "ipv4": "10.0.0.5"}, "ipv4", "Must be an object"),
    ({**PUBLIC, "ipv4": {"vpc": 5}}, "ipv4.vpc", "Must be a string"),
    ({**VLAN, "ip_ranges": ["10.0.0.0/24"]}, "ip_ranges", ONLY_VPC),
    ({**VLAN, "ip_ranges": "10.0.0.0/24"}, "ip_ranges", "Must be an array"),
    ({**VLAN, "ip_ranges": [5]}, "ip_ranges[0]", "Must be a string"),
]

TOGETHER_REFUSED = [
    ([VLAN, PUBLIC, {**VLAN, "label": "b"}, {**VLAN, "label": "c"}], "Length must be 1-3 items"),
    ([PUBLIC, PUBLIC], "At most one interface may be public"),
    ([VLAN, PUBLIC, VLAN], "The labels of vlan interfaces must differ"),
]


async def refuse(client: Client, roost: Roost, account: Account, interfaces: Json) -> Json:
    before = await held(roost, account.id)
    answer = await client.send("POST", INSTANCES, create_body(interfaces=interfaces))
    assert answer.status == 400, answer.body
    assert await held(roost, account.id) == before
    return answer.problems


@pytest.mark.spec("B limits interface label", "B interface label characters")
@pytest.mark.parametrize("interfaces", ACCEPTED, ids=json.dumps)
async def test_accepted(client: Client, interfaces: Json) -> None:
    row = await client.post(INSTANCES, create_body(interfaces=interfaces))
    [config] = (await client.get(f"{INSTANCES}/{row['id']}/configs"))["data"]
    kept = [
        {key: value for key, value in interface.items() if key != "active"}
        for interface in interfaces
    ]
    got = config["interfaces"]
    assert [{key: row[key] for key in sent} for row, sent in zip(got, kept, strict=True)] == kept


@pytest.mark.parametrize("interfaces", [[PUBLIC], [VLAN, PUBLIC]])
async def test_interfaces_need_a_config(
    client: Client, roost: Roost, account: Account, interfaces: Json
) -> None:
    before = await held(roost, account.id)
    body = {"type": "g1-nano-1", "region": "us-lake", "interfaces": interfaces}
    answer = await client.send("POST", INSTANCES, body)
    reason = "An instance without an image has no configuration for interfaces"
    assert answer.problems == [("interfaces", reason)]
    assert await held(roost, account.id) == before


@pytest.mark.spec(
    "B interface purpose",
    "B interface label",
    "B interface label null",
    "B interface ipam_address",
    "B interface primary",
    "B interface subnet_id",
    "B interface ipv4 only vpc",
    "B interface ip_ranges only vpc",
    "B limits interface label",
    "B interface label characters",
)
@pytest.mark.parametrize(("interface", "field", "reason"), ONE_REFUSED, ids=json.dumps)
async def test_one_refused(
    client: Client, roost: Roost, account: Account, interface: Json, field: str, reason: str
) -> None:
    problems = await refuse(client, roost, account, [interface])
    assert problems == [(f"interfaces[0].{field}", reason)]


@pytest.mark.spec("B interface label unique", "B limits interfaces")
@pytest.mark.parametrize(("interfaces", "reason"), TOGETHER_REFUSED, ids=json.dumps)
async def test_refused_together(
    client: Client, roost: Roost, account: Account, interfaces: Json, reason: str
) -> None:
    assert await refuse(client, roost, account, interfaces) == [("interfaces", reason)]


@pytest.mark.parametrize("interface", ["x", 1, None, []])
async def test_what_is_no_interface(
    client: Client, roost: Roost, account: Account, interface: object
) -> None:
    problems = await refuse(client, roost, account, [PUBLIC, interface])
    assert problems == [("interfaces[1]", "Must be an object")]


async def test_every_wrong_interface_is_named(
    client: Client, roost: Roost, account: Account
) -> None:
    wrong = [{"purpose": "vlan", "primary": True}, PUBLIC, {"purpose": "vpc", "label": "x"}]
    assert await refuse(client, roost, account, wrong) == [
        ("interfaces[0].label", "label is required"),
        ("interfaces[0].primary", "Must be false for a vlan interface"),
        ("interfaces[2].label", ONLY_VLAN),
        ("interfaces[2].subnet_id", "subnet_id is required"),
    ]
