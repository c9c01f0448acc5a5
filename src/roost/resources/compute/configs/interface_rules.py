"""The rules of single interfaces of a config (spec B interfaces)."""

from collections.abc import Sequence

from roost.errors import Problem
from roost.resources.compute.configs.interface_bodies import UpdateInterface
from roost.resources.compute.configs.interface_queries import InterfaceFacts
from roost.resources.compute.interfaces import MAX_INTERFACES, ONLY_VPC, Interface

ONE_PRIMARY = "At most one interface may be primary"


def adding_problem(others: Sequence[InterfaceFacts], new: Interface) -> Problem | None:
    """Why an interface cannot be added to those that a config has."""
    if len(others) >= MAX_INTERFACES:
        return Problem(f"A config has at most {MAX_INTERFACES} interfaces")
    if new.purpose == "public" and any(other.purpose == "public" for other in others):
        return Problem("At most one interface may be public", "purpose")
    if new.purpose == "vlan" and any(other.label == new.label for other in others):
        return Problem("The labels of vlan interfaces must differ", "label")
    if new.primary and any(other.primary for other in others):
        return Problem(ONE_PRIMARY, "primary")
    return None


def updating_problem(
    held: Sequence[InterfaceFacts], interface: InterfaceFacts, body: UpdateInterface
) -> Problem | None:
    """Why an interface cannot be changed so (reference: interface update)."""
    if interface.purpose == "vlan":
        return Problem("A vlan interface cannot be updated")
    if body.primary and any(other.primary for other in held if other.id != interface.id):
        return Problem(ONE_PRIMARY, "primary")
    if body.ipv4:
        return Problem(ONLY_VPC, "ipv4")
    if body.ip_ranges:
        return Problem(ONLY_VPC, "ip_ranges")
    return None
