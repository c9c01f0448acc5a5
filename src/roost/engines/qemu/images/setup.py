"""How a guest of `roost/mini` learns its set-up: named texts in QEMU's firmware configuration.

The guest finds them under `/sys/firmware/qemu_fw_cfg/by_name`. Name, password and keys are applied
when they differ from what was applied last, so a change made inside the guest stays; a password
also when it was reset to what it was. Addresses are applied at every boot; user data that starts
with `#!` runs once, and so does a StackScript.
"""

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface
from itertools import islice

from roost.engines.qemu.images.first_boot import wrapped
from roost.resources.compute.engine import InstanceSpec
from roost.resources.compute.network_engine import PublicLink, VlanLink, VpcLink

PREFIX = "opt/roost/"
INSTANCE = PREFIX + "instance"
"""By which a guest knows that it is a copy, whose SSH host keys must be new."""
HOSTNAME = PREFIX + "hostname"
PASSWORD = PREFIX + "password"
AUTHORIZED_KEYS = PREFIX + "authorized_keys"
ADDRESSES = PREFIX + "addresses"
GATEWAY = PREFIX + "gateway"
NETWORK = PREFIX + "network"
"""Of interfaces but a public eth0: lines `eth1 up`, `eth1 address 10.0.0.1/24`."""
NAMESERVERS = PREFIX + "nameservers"
USER_DATA = PREFIX + "user_data"
FIRST_BOOT = PREFIX + "first_boot"
"""A shell script."""
PASSWORD_REVISION = PREFIX + "password_revision"
RESCUE = PREFIX + "rescue"
"""Present when the guest is to leave all disks but its own alone."""

SWAP_LABEL = "roost-swap"
"""Every image uses the swap space with this label (`mkswap -L`), wherever it is attached."""


def fw_cfg_files(
    spec: InstanceSpec, dns: Sequence[IPv4Address | IPv6Address] = ()
) -> dict[str, bytes]:
    """The items to pass as `-fw_cfg name=...,file=...`; an empty one is left out."""
    setup = spec.setup
    first = spec.ipv4 if spec.links and isinstance(spec.links[0], PublicLink) else ()
    gateway = next((a.gateway for a in first if a.gateway is not None), None)
    password = setup.root_password_hash
    items = {
        INSTANCE: _lines([spec.name]),
        HOSTNAME: _lines([setup.hostname]),
        PASSWORD: _lines([password] if password else []),
        PASSWORD_REVISION: _lines([str(setup.password_revision)] if password else []),
        AUTHORIZED_KEYS: _lines(setup.authorized_keys),
        ADDRESSES: _lines(str(a.interface) for a in first),
        GATEWAY: _lines([str(gateway)] if gateway is not None else []),
        NETWORK: _lines(_network(spec)),
        NAMESERVERS: _lines(str(server) for server in dns),
        USER_DATA: setup.user_data or b"",
        FIRST_BOOT: b"" if setup.script is None else wrapped(setup.script),
    }
    return {name: text for name, text in items.items() if text}


def _network(spec: InstanceSpec) -> Iterator[str]:
    for number, link in enumerate(spec.links):
        match link:
            case PublicLink():
                if number > 0:
                    yield from _interface(number, (a.interface for a in spec.ipv4))
                    gateways = (a.gateway for a in spec.ipv4 if a.gateway is not None)
                    yield from (f"eth{number} route default {each}" for each in islice(gateways, 1))
            case VlanLink(interface=interface):
                yield from _interface(number, () if interface is None else (interface,))
            case VpcLink(interface=own):
                yield from _interface(number, (own,))
                routes = ("default",) if link.primary else link.routes
                yield from (f"eth{number} route {each} {link.gateway}" for each in routes)


def _interface(number: int, addresses: Iterable[IPv4Interface | IPv6Interface]) -> Iterator[str]:
    yield f"eth{number} up"
    yield from (f"eth{number} address {each}" for each in addresses)


def _lines(values: Iterable[str]) -> bytes:
    """One value per line; white space inside a value cannot start another line."""
    return "".join(" ".join(value.split()) + "\n" for value in values).encode()
