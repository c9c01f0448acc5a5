"""What a guest is told about itself, from the rows of its instance."""

import base64
from ipaddress import IPv6Network

from roost.core import instance_queries
from roost.core.addresses import range_queries
from roost.core.addresses.service import held_by
from roost.core.addresses.share_queries import shared_with
from roost.core.catalog import Catalog
from roost.core.instance_queries import InstanceFacts
from roost.resources.compute import rules
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.disks.records import SealedSetup
from roost.resources.compute.metadata import queries
from roost.resources.compute.metadata.records import (
    InstanceDocument,
    NetworkDocument,
    SshKeysDocument,
)
from roost.secrets import Box
from roost.services import Services
from roost.store import Queries

_LINK_LOCAL = IPv6Network("fe80::/64")


async def instance(
    db: Queries, services: Services, compute_id: int, region: str
) -> InstanceDocument | None:
    """None of one that is not in the region; so it is with all of these."""
    found = await queries.find_instance(db, compute_id, region)
    if found is not None and found["image"] is not None:
        public = services.get(Catalog).find_image(found["image"]["id"])
        found["image"]["label"] = found["image"]["label"] if public is None else public.label
    return found


async def network(
    db: Queries, _services: Services, compute_id: int, region: str
) -> NetworkDocument | None:
    """What the guest may use now, whatever it has configured."""
    facts = await _find(db, compute_id, region)
    if facts is None:
        return None
    held = await held_by(db, compute_id)
    shared = (await shared_with(db, [compute_id])).get(compute_id, [])
    ranges = await range_queries.used_by(db, [compute_id])
    found = await queries.interfaces(db, compute_id)
    mac = rules.mac_address(compute_id)
    return {
        "interfaces": [] if [each["purpose"] for each in found] == ["public"] else found,
        "ipv4": {
            "public": [f"{each.interface.ip}/32" for each in held if each.public],
            "private": [f"{each.interface.ip}/32" for each in held if not each.public],
            "shared": [f"{address}/32" for address in shared],
        },
        "ipv6": {
            "slaac": facts.ipv6,
            "link_local": f"{rules.slaac_address(_LINK_LOCAL, mac)}/128",
            "ranges": sorted(map(str, ranges.own(compute_id))),
            "shared_ranges": sorted(map(str, ranges.shared(compute_id))),
        },
    }


async def ssh_keys(
    db: Queries, services: Services, compute_id: int, region: str
) -> SshKeysDocument | None:
    """Those that the guest was made with."""
    facts = await _find(db, compute_id, region)
    if facts is None:
        return None
    setup = await _setup(db, services, compute_id)
    return {"users": {"root": setup.authorized_keys}}


async def user_data(db: Queries, services: Services, compute_id: int, region: str) -> str | None:
    """base64 in one line; empty where none was given."""
    facts = await _find(db, compute_id, region)
    if facts is None:
        return None
    if facts.user_data is not None:
        text = services.get(Box).open(facts.user_data).decode()
    else:
        text = (await _setup(db, services, compute_id)).user_data or ""
    return base64.b64encode(rules.decode_user_data(text)).decode()


async def _find(db: Queries, compute_id: int, region: str) -> InstanceFacts | None:
    facts = await instance_queries.find(db, compute_id)
    return facts if facts is not None and facts.region == region else None


async def _setup(db: Queries, services: Services, compute_id: int) -> SealedSetup:
    """The setup of the first disk that was made from an image."""
    owned = await disks.of_instance(db, compute_id)
    sealed = next((disk.setup for disk in owned if disk.setup is not None), None)
    return SealedSetup() if sealed is None else SealedSetup.unseal(services.get(Box), sealed)
