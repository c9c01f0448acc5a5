"""The network devices of a guest, from the interfaces of its config."""

from collections.abc import Container, Mapping, Sequence
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, ip_interface

from roost.resources.compute.configs.queries import BootInterface
from roost.resources.compute.interface_bodies import primary_of
from roost.resources.compute.network_engine import GuestAddress, Link, PublicLink, VlanLink, VpcLink
from roost.resources.compute.rules import side_mac_address

WITHOUT_INTERFACES = (BootInterface("public", True, None),)
"""What a config without interfaces has."""


def links_of(
    compute_id: int,
    interfaces: Sequence[BootInterface],
    public: Container[str],
    subnets: Mapping[int, Sequence[str]],
) -> tuple[Link, ...]:
    """eth0 first. `public` are the instance's public addresses, `subnets` the networks of VPCs.

    An interface to a VPC that is in no subnet is left out.
    """
    primary, links = primary_of(interfaces), list[Link]()
    for number, each in enumerate(interfaces):
        mac = side_mac_address(compute_id, number)
        if each.purpose == "public":
            links.append(PublicLink())
        elif each.vlan_id is not None:
            given = each.ipam_address
            links.append(VlanLink(each.vlan_id, mac, ip_interface(given) if given else None))
        elif each.vpc_id is not None and each.subnet_id is not None and each.address is not None:
            own, natted = IPv4Interface(each.address), each.nat_1_1
            networks = map(IPv4Network, subnets.get(each.vpc_id, ()))
            links.append(
                VpcLink(
                    vpc_id=each.vpc_id,
                    subnet_id=each.subnet_id,
                    mac=mac,
                    interface=own,
                    public=IPv4Address(natted) if natted and natted in public else None,
                    ranges=tuple(map(IPv4Network, each.ip_ranges)),
                    routes=tuple(network for network in networks if network != own.network),
                    primary=number == primary,
                )
            )
    return tuple(links)


def public_address(held: GuestAddress, interfaces: Sequence[BootInterface]) -> GuestAddress:
    """An address of the public interface, which has a gateway only where it is the primary one."""
    primary = primary_of(interfaces)
    if primary is None or interfaces[primary].purpose == "public":
        return held
    return GuestAddress(held.interface, None)
