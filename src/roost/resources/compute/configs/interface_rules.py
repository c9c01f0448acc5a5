"""What becomes of interfaces that somebody asks for."""

from collections.abc import Sequence

import orjson

from roost.core.context import Context
from roost.resources.compute.interface_bodies import Interface
from roost.resources.compute.neighbours import Host, InstanceVpcs, Place, WantedPlace

INTERFACE_TYPES = """
    purpose text, label text, ipam_address text, "primary" boolean, vpc_id bigint,
    subnet_id bigint, address inet, nat_1_1 inet, ip_ranges text[]
    """
INTERFACE_COLUMNS = """
    purpose, label, ipam_address, "primary", vpc_id, subnet_id, address, nat_1_1, ip_ranges
    """
"""SQL of what `interface_rows` has, as columns of the table."""


def interface_row(interface: Interface, place: Place | None) -> dict[str, object]:
    return {
        "purpose": interface.purpose,
        "label": interface.label,
        "ipam_address": interface.ipam_address,
        "primary": interface.primary,
        "vpc_id": None if place is None else place.vpc_id,
        "subnet_id": None if place is None else place.subnet_id,
        "address": None if place is None else place.address,
        "nat_1_1": None if place is None else place.nat_1_1,
        "ip_ranges": [] if place is None else list(place.ip_ranges),
    }


def interface_rows(interfaces: Sequence[Interface], places: Sequence[Place | None]) -> str:
    """JSON."""
    pairs = zip(interfaces, places, strict=True)
    return orjson.dumps([interface_row(*pair) for pair in pairs]).decode()


def wanted_place(interface: Interface, field: str = "") -> WantedPlace | None:
    """None for another purpose."""
    if interface.subnet_id is None:
        return None
    given = interface.ipv4
    return WantedPlace(
        field=field,
        subnet_id=interface.subnet_id,
        address=None if given is None else given.vpc or None,
        nat_1_1=None if given is None else given.nat_1_1 or None,
        ip_ranges=tuple(interface.ip_ranges or ()),
    )


async def place_all(
    context: Context, host: Host, interfaces: Sequence[Interface]
) -> list[Place | None]:
    """Where all interfaces of a config are to be; those that it had are not there any more."""
    wanted = [wanted_place(each, f"interfaces[{at}].") for at, each in enumerate(interfaces)]
    asked = [each for each in wanted if each is not None]
    placed = iter(await context.get(InstanceVpcs).place(context, host, asked) if asked else [])
    return [None if each is None else next(placed) for each in wanted]
