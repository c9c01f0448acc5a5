"""What engines are to hold of a firewall, and bringing them there.

Several processes may do so at once, for jobs and for guests that start. Each reads the rows again
when it is done, and begins anew when they have changed: whoever is last has put in force what
the rows say. What was late may have taken an instance from another firewall meanwhile, so that
those which filter the same instances are brought again too.
"""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from roost.core.addresses.range_queries import used_by
from roost.core.planes import Engines
from roost.resources.firewalls import device_queries, queries
from roost.resources.firewalls.device_queries import BalancedFacts, GuestFacts
from roost.resources.firewalls.engine import FIREWALL_PLANE, FirewallSpec
from roost.resources.firewalls.queries import FirewallFacts
from roost.resources.firewalls.records import rule_set
from roost.resources.firewalls.rules import filtered_addresses
from roost.resources.vpcs.address_queries import inside as inside_of
from roost.services import Services
from roost.store import Queries
from roost.threads import COMPUTING


async def wanted(db: Queries, facts: FirewallFacts, host: str) -> dict[str, FirewallSpec]:
    """What a host's engines hold of a firewall, by region; none where nothing is behind it."""
    return await _specs(db, facts, await _behind(db, facts.id, host))


@dataclass(frozen=True, slots=True)
class _Behind:
    """What is behind a firewall on a host."""

    guests: Collection[GuestFacts]
    balanced: Collection[BalancedFacts]


async def _behind(db: Queries, firewall_id: int, host: str) -> _Behind:
    return _Behind(
        await device_queries.guests(db, firewall_id, host),
        await device_queries.balanced(db, firewall_id, host),
    )


async def _specs(db: Queries, facts: FirewallFacts, behind: _Behind) -> dict[str, FirewallSpec]:
    if facts.status != "enabled":
        return {}
    addresses = defaultdict[str, set[str]](set)
    in_vpcs = defaultdict[str, set[tuple[int, str]]](set)
    balanced = defaultdict[str, set[str]](set)
    ids = [guest.compute_id for guest in behind.guests]
    ranges, inside = await used_by(db, ids), await inside_of(db, ids)
    for each in behind.balanced:
        addresses[each.region].add(each.address)
        balanced[each.region].add(each.address)
    for guest in behind.guests:
        own = ranges.own(guest.compute_id)
        addresses[guest.region] |= filtered_addresses(guest.ipv4, guest.ipv6, own)
        in_vpcs[guest.region] |= inside.get(guest.compute_id, frozenset())
    rules = await COMPUTING.run(rule_set, facts.rules)
    return {
        region: FirewallSpec(
            facts.id,
            rules,
            frozenset(held),
            frozenset(in_vpcs[region]),
            frozenset(balanced[region]),
        )
        for region, held in addresses.items()
        if held
    }


async def put_in_force(db: Queries, services: Services, firewall_id: int) -> None:
    """This host's engines have what the rows say when it returns; no transaction is open.

    Raises EngineError.
    """
    guests, balancers = await _put_in_force(db, services, firewall_id)
    others = {
        *await device_queries.enabled_beside(db, guests, firewall_id),
        *await device_queries.enabled_beside_balancers(db, balancers, firewall_id),
    }
    for other in sorted(others):
        await _put_in_force(db, services, other)


async def _put_in_force(
    db: Queries, services: Services, firewall_id: int
) -> tuple[set[int], set[int]]:
    """The instances and NodeBalancers that were behind it at any time meanwhile."""
    engines = services.get(Engines)
    touched, balancers = set[int](), set[int]()
    done, host = None, engines.host
    while (facts := await queries.find(db, firewall_id)) is not None:
        behind = await _behind(db, firewall_id, host)
        touched |= {guest.compute_id for guest in behind.guests}
        balancers |= {each.nodebalancer_id for each in behind.balanced}
        specs = await _specs(db, facts, behind)
        if specs == done:
            break
        await queries.place(db, firewall_id, specs)
        await _bring(engines, facts, specs)
        done = specs
    else:
        # It was deleted and forgotten by somebody else before we brought it.
        for region in done or ():
            await engines.of(FIREWALL_PLANE, region).remove(firewall_id)
    return touched, balancers


async def _bring(engines: Engines, facts: FirewallFacts, specs: dict[str, FirewallSpec]) -> None:
    for region in sorted({*facts.placed, *specs}):
        engine = engines.of(FIREWALL_PLANE, region)
        if region in specs:
            await engine.apply(specs[region])
        else:
            await engine.remove(facts.id)
