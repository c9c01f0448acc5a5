"""What a guest of `roost/mini` is told."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Interface, IPv6Address

import pytest

from roost.engines.qemu.images import setup
from roost.engines.qemu.images.first_boot import wrapped
from roost.engines.qemu.images.setup import fw_cfg_files
from roost.resources.compute.engine import FirstBootScript
from roost.resources.compute.network_engine import PublicLink, VlanLink
from tests.engines.images.specs import HASH, KEY, PRIVATE, SPEC, spec_with


def test_every_item_of_a_full_specification() -> None:
    script = FirstBootScript("#!/bin/sh\n", {"A": "b"})
    spec = spec_with(user_data=b"#!/bin/sh\n\xff\n", script=script)
    dns: list[IPv4Address | IPv6Address] = [IPv4Address("192.0.2.53"), IPv6Address("2001:db8::53")]
    assert fw_cfg_files(spec, dns) == {
        "opt/roost/instance": b"compute-100001\n",
        "opt/roost/hostname": b"web1\n",
        "opt/roost/password": HASH.encode() + b"\n",
        "opt/roost/password_revision": b"0\n",
        "opt/roost/authorized_keys": KEY.encode() + b"\n",
        "opt/roost/addresses": b"192.0.2.10/24\n192.168.128.5/17\n",
        "opt/roost/gateway": b"192.0.2.1\n",
        "opt/roost/nameservers": b"192.0.2.53\n2001:db8::53\n",
        "opt/roost/user_data": b"#!/bin/sh\n\xff\n",
        "opt/roost/first_boot": wrapped(script),
    }


def test_empty_items_are_left_out() -> None:
    spec = replace(spec_with(password_hash=None, keys=()), ipv4=())
    assert list(fw_cfg_files(spec)) == [setup.INSTANCE, setup.HOSTNAME]


def test_private_addresses_alone_have_no_gateway() -> None:
    assert setup.GATEWAY not in fw_cfg_files(replace(SPEC, ipv4=(PRIVATE,)))


def test_interfaces_but_a_public_eth0_are_lines() -> None:
    vlan = VlanLink(7, "52:54:00:00:00:07", IPv4Interface("10.0.0.1/24"))
    items = fw_cfg_files(replace(SPEC, links=(vlan, PublicLink())))
    assert setup.ADDRESSES not in items
    assert setup.GATEWAY not in items
    assert items[setup.NETWORK].decode().splitlines() == [
        "eth0 up",
        "eth0 address 10.0.0.1/24",
        "eth1 up",
        "eth1 address 192.0.2.10/24",
        "eth1 address 192.168.128.5/17",
        "eth1 route default 192.0.2.1",
    ]
    items = fw_cfg_files(replace(SPEC, links=(PublicLink(), replace(vlan, interface=None))))
    assert setup.GATEWAY in items
    assert items[setup.NETWORK] == b"eth1 up\n"


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("ssh-rsa AAAA a\nssh-rsa BBBB b", b"ssh-rsa AAAA a ssh-rsa BBBB b\n"),
        ("ssh-rsa AAAA \"$(reboot)\" 'x'", b"ssh-rsa AAAA \"$(reboot)\" 'x'\n"),
        ("  ssh-rsa AAAA\tgr\u00fc\u00df \r\n", "ssh-rsa AAAA gr\u00fc\u00df\n".encode()),
    ],
)
def test_a_key_stays_one_line(key: str, line: bytes) -> None:
    assert fw_cfg_files(spec_with(keys=(key,)))[setup.AUTHORIZED_KEYS] == line
