"""Bringing a running guest the addresses that its instance has by now.

What it loses is gone before anything else has it, and what it gets is behind its firewalls before
a packet passes. Jobs of the instance do it, one at a time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Interface

from roost.core import account_queries as accounts
from roost.core.addresses import queries as address_rows
from roost.core.addresses import range_queries, share_queries
from roost.core.catalog import Catalog
from roost.core.instance_queries import InstanceFacts
from roost.core.neighbours import Neighbours
from roost.core.planes import Engines
from roost.resources.compute import rules
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.neighbours import InstanceVpcs
from roost.resources.compute.network_engine import GuestAddresses
from roost.services import Services
from roost.store import Queries


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a guest is to have, and the ids of the rows that say what it has to let go of."""

    addresses: GuestAddresses
    natted: frozenset[IPv4Address]
    """Its own that stand for addresses in VPCs, by any of its configs."""
    leaving: frozenset[int]

    def beside(self, held: GuestAddresses | None) -> GuestAddresses:
        """What the guest is to have that has this by now. A NAT of a config that has changed since
        its start begins with the next one: until then it goes on with the address itself."""
        kept = frozenset[IPv4Address]() if held is None else self.natted & held.ipv4
        return replace(self.addresses, ipv4=self.addresses.ipv4 | kept)


async def wanted(db: Queries, services: Services, facts: InstanceFacts) -> Wanted:
    """By the rows of one instance."""
    return (await all_wanted(db, services, [facts]))[facts.id]


async def all_wanted(
    db: Queries, services: Services, instances: Sequence[InstanceFacts]
) -> dict[int, Wanted]:
    """By the rows; what is leaving is read first, as it was lost before the rest is read."""
    ids = [facts.id for facts in instances]
    leaving = await share_queries.leaving(db, ids)
    natted = await services.get(InstanceVpcs).natted(db, ids)
    held = await address_rows.held_by_all(db, ids)
    shared = await share_queries.shared_with(db, ids)
    ranges = await range_queries.used_by(db, ids)
    opened = await accounts.created(db, {facts.account_id for facts in instances})
    restricts_mail = services.get(Catalog).restricts_mail
    own = {each: frozenset(map(IPv4Address, held.get(each, ()))) for each in ids}
    inside = {
        each: frozenset(address for address in own[each] if (each, str(address)) in natted)
        for each in ids
    }
    return {
        facts.id: Wanted(
            GuestAddresses(
                id=facts.id,
                mac=rules.mac_address(facts.id),
                ipv4=own[facts.id] - inside[facts.id],
                shared=frozenset(map(IPv4Address, shared.get(facts.id, ()))),
                ipv6=IPv6Interface(facts.ipv6).ip if facts.ipv6 else None,
                mail_restricted=restricts_mail(opened[facts.account_id]),
                ranges=ranges.own(facts.id),
                shared_ranges=ranges.shared(facts.id),
            ),
            inside[facts.id],
            frozenset(leaving.get(facts.id, ())),
        )
        for facts in instances
    }


async def bring(db: Queries, services: Services, facts: InstanceFacts) -> frozenset[int]:
    """The engine has what the rows say when it returns: the ids of what the guest let go of.

    Called while no transaction is open. What has changed meanwhile is brought once more. Raises
    EngineError.
    """
    engine = services.get(Engines).on_host(INSTANCE_PLANE, facts).addresses
    done, found = None, await wanted(db, services, facts)
    while found != done:
        running = await engine.list()
        held = running.get(facts.id)
        attached = facts.id in running and (held is None or held.has_any)
        addresses = found.beside(held)
        if attached:
            await engine.set(_common(addresses, held))
        await services.get(Neighbours).settle(db, services, facts.id)
        if attached:
            await engine.set(addresses)
        done, found = found, await wanted(db, services, facts)
    return found.leaving


def _common(addresses: GuestAddresses, held: GuestAddresses | None) -> GuestAddresses:
    """What the guest keeps of all that it has."""
    if held is None:
        return replace(addresses, ipv4=frozenset(), shared=frozenset())
    usable = held.ipv4 | held.shared
    return replace(addresses, ipv4=addresses.ipv4 & usable, shared=addresses.shared & usable)
