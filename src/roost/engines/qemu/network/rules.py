"""nftables rules that hold each guest to its own addresses.

They need neither connection tracking nor other bridge modules of the kernel. A frame of a guest
without rules is dropped.
"""

from collections.abc import Callable, Iterable
from functools import partial
from ipaddress import IPv4Network, IPv6Address

from roost.engines.qemu.network.config import (
    BRIDGE,
    METADATA,
    METADATA_PORT,
    UPLINK,
    tap_name,
)
from roost.engines.qemu.network.spoofing import (
    COUNTERS,
    Reason,
    device_counter,
    dropped,
    no_device_counter,
)
from roost.engines.qemu.network.tunnels import OVERLAY
from roost.resources.compute.network_engine import MAIL_PORTS, GuestAddresses

TABLE = "bridge roost"

MAIL = f"tcp dport {{ {', '.join(map(str, MAIL_PORTS))} }} drop"

BASE = f"""\
add table {TABLE}
{COUNTERS}add map {TABLE} guests {{ type ifname : verdict; }}
add chain {TABLE} from_guests {{ type filter hook prerouting priority 100; policy accept; }}
flush chain {TABLE} from_guests
add rule {TABLE} from_guests iifname vmap @guests
add rule {TABLE} from_guests iifname "tap*" {dropped("unfiltered")}
"""
"""Can be applied again at any time; the guests' rules stay."""


_INET = "inet roost"

RANGE_MASKS = {64: "ffff:ffff:ffff:ffff::", 56: "ffff:ffff:ffff:ff00::"}
"""By the length of the prefix that ranges have. A map for each spares interval sets, which are
empty for a moment whenever they change."""

FORWARD = (
    "ct state related meta l4proto { icmp, icmpv6 } accept",
    "ct original ip saddr vmap @out4",
    "ct original ip6 saddr vmap @out6",
    *(f"ct original ip6 saddr & {mask} vmap @out6_{n}" for n, mask in RANGE_MASKS.items()),
    "ct original ip daddr vmap @in4",
    "ct original ip6 daddr vmap @in6",
    *(f"ct original ip6 daddr & {mask} vmap @in6_{n}" for n, mask in RANGE_MASKS.items()),
)

_RANGE_MAPS = "".join(
    f"add map {_INET} {direction}6_{n} {{ type ipv6_addr : verdict; }}\n"
    for direction in ("in", "out")
    for n in RANGE_MASKS
)

FIREWALLS = f"""\
add table {_INET}
add map {_INET} in4 {{ type ipv4_addr : verdict; }}
add map {_INET} out4 {{ type ipv4_addr : verdict; }}
add map {_INET} in6 {{ type ipv6_addr : verdict; }}
add map {_INET} out6 {{ type ipv6_addr : verdict; }}
{_RANGE_MAPS}
add chain {_INET} arriving {{ type filter hook prerouting priority -310; policy accept; }}
flush chain {_INET} arriving
add rule {_INET} arriving iifname "{UPLINK}" meta nfproto ipv4 fib saddr . iif oif missing drop
add chain {_INET} leaving {{ type filter hook output priority 0; policy accept; }}
flush chain {_INET} leaving
add rule {_INET} leaving oifname "{BRIDGE}" icmpv6 type nd-redirect drop
add rule {_INET} leaving oifname "{BRIDGE}" meta l4proto tcp ct original ip daddr vmap @in4
add chain {_INET} balanced {{ type filter hook input priority 1; policy accept; }}
flush chain {_INET} balanced
add rule {_INET} balanced meta l4proto tcp ct original ip daddr vmap @in4
add chain {_INET} forward {{ type filter hook forward priority 0; policy accept; }}
flush chain {_INET} forward
""" + "".join(f"add rule {_INET} forward {rule}\n" for rule in FORWARD)
"""Which firewall a connection meets: by the addresses that it begins with. Can be applied again at
any time; firewalls and their addresses stay. NodeBalancers are in the namespace itself: what comes
to them, and what they send to their nodes, meets the firewall of the address that it is to.

A guest that was told to go to its peer directly would not find it. Nobody outside speaks for a
guest.
"""


def inside_firewalls(lengths: Iterable[int]) -> str:
    """Let firewalls filter inside a VPC, for IPv4 addresses and networks of these prefix lengths.

    It can be applied again at any time, with those that there are and more.
    """
    kinds = [(f"4_{n}", f" & {IPv4Network((0, n)).netmask}") for n in sorted(lengths)]
    names = [f"{way}{kind}" for kind, _ in [("4", ""), *kinds] for way in ("in", "out")]
    chain = f"{_INET} forward"
    lines = [
        f"add table {_INET}",
        *(f"add map {_INET} {name} {{ type ipv4_addr : verdict; }}" for name in names),
        f"add chain {chain} {{ type filter hook forward priority 0; policy accept; }}",
        f"flush chain {chain}",
        f"add rule {chain} ct state related meta l4proto icmp accept",
    ]
    for way, end in (("out", "saddr"), ("in", "daddr")):
        for kind, mask in [("4", ""), *kinds]:
            lines.append(f"add rule {chain} ct original ip {end}{mask} vmap @{way}{kind}")
    return "".join(f"{line}\n" for line in lines)


MOST_CONNECTIONS = 20_000
"""That begin at one address; those of a guest cannot fill the table of all."""


def guard(private: Iterable[IPv4Network]) -> str:
    """What no firewall allows: private addresses outside the region, what comes from another host
    and is for nobody here, and too many connections. Can be applied again at any time, after
    `FIREWALLS`.
    """
    chain = f"{_INET} guard"
    lines = [
        f"add set {_INET} from4 {{ type ipv4_addr; size 65536; flags dynamic; }}",
        f"add set {_INET} from6 {{ type ipv6_addr; size 65536; flags dynamic; }}",
        f"add chain {chain} {{ type filter hook forward priority -10; policy accept; }}",
        f"flush chain {chain}",
        f'add rule {chain} iifname "{OVERLAY}" oifname != "{BRIDGE}" oifname != "vpc*" drop',
    ]
    if networks := _set(private) if (private := list(private)) else "":
        lines += [
            f'add rule {chain} oifname "{UPLINK}" ip saddr {networks} drop',
            f'add rule {chain} oifname "{UPLINK}" ip daddr {networks} drop',
        ]
    many = f"ct count over {MOST_CONNECTIONS}"
    begins = f'add rule {chain} iifname "{BRIDGE}" ct state new'
    prefix = f"ip6 saddr & {RANGE_MASKS[64]}"
    lines += [f"{begins} add @from4 {{ ip saddr {many} }} drop"]
    lines += [f"{begins} add @from6 {{ {prefix} {many} }} drop"]
    return "".join(f"{line}\n" for line in lines)


METADATA_CHAIN = "metadata"

MOST_ASKED = 8
"""Connections of a guest at once; another one waits for the end of one of them."""

METADATA_RULES = (
    f'iifname != "{BRIDGE}" drop',
    "meta mark 0 drop",
    "meta l4proto != tcp drop",
    f"tcp dport != {METADATA_PORT} drop",
    f"ct state new add @asking {{ meta mark ct count over {MOST_ASKED} }} drop",
)
"""Who is asked at the addresses of the metadata service, and by whom."""

SERVICE = f"""\
add set {_INET} asking {{ type mark; size 65536; flags dynamic; }}
add chain {_INET} {METADATA_CHAIN}
flush chain {_INET} {METADATA_CHAIN}
add chain {_INET} arrived {{ type filter hook input priority 0; policy accept; }}
flush chain {_INET} arrived
add rule {_INET} arrived ip daddr {METADATA[0]} jump {METADATA_CHAIN}
add rule {_INET} arrived ip6 daddr {METADATA[1]} jump {METADATA_CHAIN}
""" + "".join(f"add rule {_INET} {METADATA_CHAIN} {rule}\n" for rule in METADATA_RULES)
"""Only guests reach the metadata service, whatever their firewalls say, and nothing else there. Can
be applied again at any time, after `FIREWALLS`.
"""


def guest_rules(guest: GuestAddresses) -> str:
    """The rules of one guest's public interface in place of those that it had."""
    return port_rules(tap_name(guest.id), _rules(guest))


def no_guest_rules(compute_id: int) -> str:
    """Forget a guest that has rules or not."""
    return no_port_rules(tap_name(compute_id))


def port_rules(device: str, rules: Iterable[str]) -> str:
    """The rules of one device in place of those that it had. `BASE` must have been applied."""
    chain = _chain(device)
    lines = "".join(f"add rule {TABLE} {chain} {rule}\n" for rule in rules)
    return (
        f"{device_counter(chain)}add chain {TABLE} {chain}\nflush chain {TABLE} {chain}\n{lines}"
        f'add element {TABLE} guests {{ "{device}" : jump {chain} }}\n'
    )


def no_port_rules(device: str) -> str:
    """Forget a device that has rules or not."""
    chain = _chain(device)
    element = f'{TABLE} guests {{ "{device}" : jump {chain} }}'
    return (
        f"{device_counter(chain)}add chain {TABLE} {chain}\nadd element {element}\n"
        f"delete element {element}\nflush chain {TABLE} {chain}\ndelete chain {TABLE} {chain}\n"
        f"{no_device_counter(chain)}"
    )


def refused(device: str, reason: Reason) -> str:
    """The end of a rule of a device, by which a frame is counted and dropped."""
    return dropped(reason, _chain(device))


def link_local(mac: str) -> IPv6Address:
    """The address that a guest gives itself on the link (RFC 4291, appendix A)."""
    octets = bytes.fromhex(mac.replace(":", ""))
    suffix = bytes([octets[0] ^ 2]) + octets[1:3] + b"\xff\xfe" + octets[3:]
    return IPv6Address(b"\xfe\x80" + bytes(6) + suffix)


def _rules(guest: GuestAddresses) -> Iterable[str]:
    refuse = partial(refused, tap_name(guest.id))
    ipv4 = sorted(guest.ipv4 | guest.shared)
    ipv6 = _own_ipv6(guest.mac, guest.ipv6)
    yield f"meta mark set {guest.id}"  # By which the metadata service knows who asks.
    yield f"ether saddr != {guest.mac} {refuse('mac')}"
    yield f"arp saddr ether != {guest.mac} {refuse('arp')}"
    if ipv4:
        yield f"arp saddr ip 0.0.0.0 arp daddr ip {_set(ipv4)} accept"
        yield f"arp saddr ip {_set(ipv4)} accept"
    yield f"ether type arp {refuse('arp')}"
    yield f"udp sport {{ 67, 547 }} {refuse('dhcp')}"
    yield f"icmpv6 type {{ nd-router-advert, nd-redirect }} {refuse('router')}"
    yield from _neighbour_rules(guest.mac, ipv6, refuse)
    if guest.mail_restricted:
        yield MAIL
    if ipv4:
        yield f"ip saddr {_set(ipv4)} accept"
    yield f"ip6 saddr :: icmpv6 type {_UNADDRESSED} accept"
    ranges = sorted(guest.ranges | guest.shared_ranges)
    yield f"ip6 saddr {_set([*ipv6, *ranges])} accept"
    yield refuse("source")


_UNADDRESSED = (
    "{ nd-neighbor-solicit, nd-router-solicit, mld-listener-report, mld2-listener-report }"
)
"""What says who has no address yet (RFC 4862, RFC 3590)."""


def _neighbour_rules(
    mac: str, ipv6: Iterable[IPv6Address], refuse: Callable[[Reason], str]
) -> Iterable[str]:
    """Neighbour discovery about nobody else; in one piece, as hosts have to take it (RFC 6980)."""
    own, foreign = _set(map(_number, ipv6)), f"!= 0x{mac.replace(':', '')}"
    for end in ("saddr fe80::/10", "daddr { fe80::/10, ff02::/16 }"):
        yield f"ip6 {end} exthdr frag exists {refuse('fragment')}"
    yield f"icmpv6 type nd-neighbor-advert @th,64,128 != {own} {refuse('neighbour')}"
    probing = "ip6 saddr :: icmpv6 type nd-neighbor-solicit"
    yield f"{probing} @th,64,128 != {own} {refuse('neighbour')}"
    for kind, option in (("nd-neighbor-advert", 2), ("nd-neighbor-solicit", 1)):
        claims = f"@th,192,16 {option << 8 | 1:#06x} @th,208,48 {foreign}"
        yield f"icmpv6 type {kind} {claims} {refuse('neighbour')}"


def _own_ipv6(mac: str, slaac: IPv6Address | None) -> list[IPv6Address]:
    return [link_local(mac)] if slaac is None else [link_local(mac), slaac]


def _number(address: IPv6Address) -> str:
    """nftables 1.0.6 knows no address type for the target of a neighbour advertisement."""
    return f"{int(address):#034x}"


def _set(elements: Iterable[object]) -> str:
    return "{ " + ", ".join(map(str, elements)) + " }"


def chain_of(compute_id: int) -> str:
    """The guest's rules."""
    return _chain(tap_name(compute_id))


def _chain(device: str) -> str:
    return f"guest_{device.removeprefix('tap').replace('.', '_')}"
