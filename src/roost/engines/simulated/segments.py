"""Who would hear whom in simulated VLANs."""

from collections.abc import Iterable
from dataclasses import dataclass

from roost.engines.simulated.shelves import Guest
from roost.resources.compute.network_engine import VlanLink


@dataclass(frozen=True, slots=True)
class Port:
    """A guest's eth`number`."""

    compute_id: int
    number: int


def hearers(guests: Iterable[Guest], sender: Port, mac: str) -> set[Port]:
    """Who gets a frame that is sent to everybody in a VLAN with `mac` as its source."""
    vlans = {
        Port(guest.id, number): link
        for guest in guests
        if guest.started is not None
        for number, link in enumerate(guest.links)
        if isinstance(link, VlanLink)
    }
    own = vlans.get(sender)
    if own is None or own.mac != mac:
        return set()
    same = {port for port, link in vlans.items() if link.vlan_id == own.vlan_id}
    return same - {sender}
