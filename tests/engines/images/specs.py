"""Specifications of guests for the rendering tests."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Interface

from roost.resources.compute.engine import FirstBootScript, GuestSetup, InstanceSpec
from roost.resources.compute.network_engine import GuestAddress

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIJ0 someone@example.com"
HASH = "$6$salt$abc./XYZ"

PUBLIC = GuestAddress(IPv4Interface("192.0.2.10/24"), IPv4Address("192.0.2.1"))
PRIVATE = GuestAddress(IPv4Interface("192.168.128.5/17"), None)

SETUP = GuestSetup("web1", HASH, (KEY,), None)
SPEC = InstanceSpec(
    id=100001,
    vcpus=1,
    memory=128,
    mac="52:54:00:AB:CD:EF",
    ipv4=(PUBLIC, PRIVATE),
    ipv6=None,
    setup=SETUP,
)


def spec_with(
    hostname: str = "web1",
    password_hash: str | None = HASH,
    keys: tuple[str, ...] = (KEY,),
    user_data: bytes | None = None,
    script: FirstBootScript | None = None,
) -> InstanceSpec:
    return replace(SPEC, setup=GuestSetup(hostname, password_hash, keys, user_data, script=script))
