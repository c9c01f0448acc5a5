"""A real guest of `roost/mini`."""

import shutil
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path

import pytest

from roost.engines.qemu.images.store import GuestImage
from roost.resources.compute.engine import FirstBootScript, InstanceSpec
from roost.resources.compute.network_engine import GuestAddress, PublicLink, VlanLink, VpcLink
from roost.secrets import hash_guest_password
from tests.engines.images.machine import ADDRESS, Machine, new_machine
from tests.engines.images.specs import spec_with

pytestmark = [
    pytest.mark.qemu,
    pytest.mark.skipif(shutil.which("qemu-system-x86_64") is None, reason="QEMU is missing"),
    pytest.mark.skipif(shutil.which("ssh") is None, reason="the SSH client is missing"),
]

SCRIPT = b"#!/bin/sh\necho once >> /root/ran\n"
STACKSCRIPT = FirstBootScript(
    '#!/bin/ash\necho "$SITE and $site" | tee -a /root/deployed\n',
    {"SITE": "it's\n$(here)", "site": '"\\'},
)
"""Its answers are what a shell would like to read otherwise."""


@pytest.fixture
def machine(tmp_path: Path, mini_image: GuestImage) -> Machine:
    return new_machine(tmp_path, mini_image)


def spec_for(machine: Machine, hostname: str, password_hash: str) -> InstanceSpec:
    key = (machine.work / "key.pub").read_text()
    spec = spec_with(hostname, password_hash, (key,), SCRIPT, STACKSCRIPT)
    interface = IPv4Interface(f"{ADDRESS}/24")
    return replace(spec, ipv4=(GuestAddress(interface, IPv4Address("10.0.2.2")),))


@pytest.mark.spec("B interface order")
def test_interfaces_are_in_the_order_of_their_config(machine: Machine) -> None:
    vlan = VlanLink(7, "5a:00:00:00:00:07", IPv4Interface("10.7.0.1/24"))
    vpc = VpcLink(
        vpc_id=1,
        subnet_id=2,
        mac="5e:00:00:00:00:07",
        interface=IPv4Interface("10.8.0.2/24"),
        public=None,
        ranges=(),
        routes=(IPv4Network("10.9.0.0/24"),),
        primary=False,
    )
    plain = spec_for(machine, "web1", hash_guest_password("Correct-horse-7"))
    with machine.running(replace(plain, links=(vlan, PublicLink(), vpc))) as guest:
        assert "inet 10.7.0.1/24 " in guest.run("ip address show eth0")
        assert f"inet {ADDRESS}/24 " in guest.run("ip address show eth1")
        assert "inet 10.8.0.2/24 " in guest.run("ip address show eth2")
        assert [guest.run(f"cat /sys/class/net/eth{n}/address").strip() for n in range(3)] == [
            vlan.mac,
            plain.mac.lower(),
            vpc.mac,
        ]
        routes = guest.run("ip route")
        assert "default via 10.0.2.2 dev eth1" in routes
        assert "10.9.0.0/24 via 10.8.0.1 dev eth2" in routes


def test_a_guest_applies_its_set_up_and_keeps_its_disk(machine: Machine) -> None:
    old, new = hash_guest_password("Correct-horse-7"), hash_guest_password("Battery-staple-8")
    with machine.running(spec_for(machine, "web1", old)) as guest:
        assert guest.run("hostname") == "web1\n"
        assert "roost-mini" in guest.run("cat /etc/os-release")
        assert f"root:{old}:" in guest.run("cat /etc/shadow")
        assert f"inet {ADDRESS}/24 " in guest.run("ip address show eth0")
        assert "fe80::5054:ff:feab:cdef/64" in guest.run("ip address show eth0")
        assert "default via 10.0.2.2" in guest.run("ip route")
        guest.becomes("test -e /root/ran")
        guest.becomes("test -s /var/log/stackscript.log")
        assert guest.run("cat /proc/swaps").count("/dev/sd") == 1
        assert int(guest.run("df -m / | tail -n 1").split()[1]) > 400
        guest.becomes("test -e /dev/disk/by-id/*one-two_3")
        assert guest.run("readlink /dev/disk/by-id/*one-two_3") == "../../sdb\n"
        host_key = guest.run("md5sum /etc/dropbear/*; echo data > /root/data")
    with machine.running(spec_for(machine, "web2", new)) as guest:
        assert guest.run("hostname") == "web2\n"
        assert f"root:{new}:" in guest.run("cat /etc/shadow")
        assert guest.run("cat /root/data") == "data\n"
        assert guest.run("md5sum /etc/dropbear/*") == host_key
        guest.becomes("grep /dev/sdb /proc/swaps")
        assert guest.run("cat /root/ran") == "once\n"
        output = "it's\n$(here) and \"\\\n"
        assert guest.run("cat /root/deployed") == output
        assert guest.run("cat /var/log/stackscript.log") == output
    with machine.running(replace(spec_for(machine, "web3", new), id=100002)) as copy:
        assert copy.run("cat /root/data") == "data\n"
        assert copy.run("md5sum /etc/dropbear/*") != host_key
        assert copy.run("cat /root/deployed") == output
