"""The network devices of a guest, from the interfaces of its config."""

from collections.abc import Sequence
from ipaddress import ip_interface

from roost.resources.compute.configs.queries import BootInterface
from roost.resources.compute.engine import GuestAddress, Link, PublicLink, VlanLink
from roost.resources.compute.interface_bodies import primary_of
from roost.resources.compute.rules import side_mac_address

WITHOUT_INTERFACES = (BootInterface("public", True, None, None),)
"""What a config without interfaces has."""


def links_of(compute_id: int, interfaces: Sequence[BootInterface]) -> tuple[Link, ...]:
    """eth0 first."""
    return tuple(_link(compute_id, number, each) for number, each in enumerate(interfaces))


def _link(compute_id: int, number: int, interface: BootInterface) -> Link:
    if interface.vlan_id is None:
        return PublicLink()
    given = interface.ipam_address
    address = ip_interface(given) if given else None
    return VlanLink(interface.vlan_id, side_mac_address(compute_id, number), address)


def public_address(held: GuestAddress, interfaces: Sequence[BootInterface]) -> GuestAddress:
    """An address of the public interface, which has a gateway only where it is the primary one."""
    primary = primary_of(interfaces)
    if primary is None or interfaces[primary].purpose == "public":
        return held
    return GuestAddress(held.interface, None)
