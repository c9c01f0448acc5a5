"""nftables rules of a VPC: what each guest may send, 1:1 NAT, and who may leave."""

from collections.abc import Iterable
from functools import partial

from roost.engines.qemu.network.config import METADATA, METADATA_PORT, UPLINK
from roost.engines.qemu.network.rules import MAIL, MOST_ASKED, refused
from roost.engines.qemu.network.tunnels import OVERLAY
from roost.resources.compute.engine import InstanceSpec
from roost.resources.compute.network_engine import VpcLink

_TABLE = "ip vpc"
_SERVICE = f'iifname != "{UPLINK}" ip daddr {METADATA[0]}'
_ASKED = f"meta mark != 0 tcp dport {METADATA_PORT}"
_MANY = f"ct state new add @asking {{ meta mark ct count over {MOST_ASKED} }}"

ROUTER_RULES = f"""\
add table {_TABLE}
add map {_TABLE} to_vpc {{ type ipv4_addr : ipv4_addr; }}
add map {_TABLE} to_public {{ type ipv4_addr : ipv4_addr; }}
add set {_TABLE} public {{ type ipv4_addr; }}
add set {_TABLE} natted {{ type ipv4_addr; }}
add set {_TABLE} asking {{ type mark; size 65536; flags dynamic; }}
add chain {_TABLE} arriving {{ type filter hook prerouting priority -310; policy accept; }}
flush chain {_TABLE} arriving
add rule {_TABLE} arriving iifname "{UPLINK}" ip daddr != @public drop
add rule {_TABLE} arriving {_SERVICE} accept
add rule {_TABLE} arriving iifname != "{UPLINK}" ip daddr 169.254.0.0/16 drop
add chain {_TABLE} inward {{ type nat hook prerouting priority -100; policy accept; }}
flush chain {_TABLE} inward
add rule {_TABLE} inward dnat to ip daddr map @to_vpc
add chain {_TABLE} forward {{ type filter hook forward priority 0; policy accept; }}
flush chain {_TABLE} forward
add rule {_TABLE} forward iifname "{OVERLAY}" oifname {{ "{OVERLAY}", "{UPLINK}" }} drop
add rule {_TABLE} forward oifname "{UPLINK}" ct state invalid drop
add rule {_TABLE} forward oifname "{UPLINK}" ct direction original ip saddr != @natted drop
add chain {_TABLE} own {{ type filter hook input priority 0; policy drop; }}
flush chain {_TABLE} own
add rule {_TABLE} own {_SERVICE} {_ASKED} {_MANY} drop
add rule {_TABLE} own {_SERVICE} {_ASKED} accept
add rule {_TABLE} own ip daddr {METADATA[0]} drop
add rule {_TABLE} own ip protocol icmp accept
add chain {_TABLE} outward {{ type nat hook postrouting priority 100; policy accept; }}
flush chain {_TABLE} outward
add rule {_TABLE} outward oifname "{UPLINK}" snat to ip saddr map @to_public
"""
"""Can be applied again at any time; the addresses stay."""


def frame_rules(spec: InstanceSpec, link: VpcLink, device: str) -> Iterable[str]:
    """What a guest may send into its subnet: as itself, and from what is routed to it."""
    refuse = partial(refused, device)
    yield f"meta mark set {spec.id}"  # By which the metadata service knows who asks.
    own = ", ".join(map(str, (link.interface.ip, *link.ranges)))
    yield f"ether saddr != {link.mac} {refuse('mac')}"
    yield f"arp saddr ether != {link.mac} {refuse('arp')}"
    yield f"arp saddr ip 0.0.0.0 arp daddr ip {{ {own} }} accept"
    yield f"arp saddr ip {{ {own} }} accept"
    yield f"ether type arp {refuse('arp')}"
    yield f"udp sport 67 {refuse('dhcp')}"
    if spec.mail_restricted:
        yield MAIL
    yield f"ip saddr {{ {own} }} accept"
    yield refuse("source")


def nat_rules(address: str, public: str) -> str:
    """Two addresses that stand for each other."""
    return "".join(f"add element {_TABLE} {each}\n" for each in _elements(address, public))


def no_nat_rules(address: str, public: str) -> str:
    """Forget them, if they do."""
    return "".join(
        f"add element {_TABLE} {each}\ndelete element {_TABLE} {each}\n"
        for each in _elements(address, public)
    )


def _elements(address: str, public: str) -> tuple[str, ...]:
    return (
        f"to_vpc {{ {public} : {address} }}",
        f"to_public {{ {address} : {public} }}",
        f"public {{ {public} }}",
        f"natted {{ {address} }}",
    )
