"""Giving interfaces their addresses in VPCs (spec B interface ipv4 vpc, B interface ipv4 nat)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import AddressValueError, IPv4Address, IPv4Network

from pydantic_core import PydanticCustomError

from roost.core.access import require_all
from roost.core.addresses.service import held_by
from roost.core.context import Context
from roost.errors import Problem, invalid_fields
from roost.resources.compute.address_service import objections
from roost.resources.compute.neighbours import Host, Place, WantedPlace
from roost.resources.vpcs import address_queries, queries, rules
from roost.resources.vpcs.entity import VPC
from roost.resources.vpcs.queries import SubnetFacts, VpcFacts

NOT_PUBLIC = "Must be any, or a public IPv4 address of the Compute"
ONLY_ANY = "Must be any: the Compute has no address yet"
ELSEWHERE = "The VPC is in another region"
FULL = "The subnet {} has no free address"


class _RefusedError(Exception):
    """Why an interface cannot be so."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(reason)
        self.name, self.reason = name, reason


@dataclass(slots=True)
class _Vpc:
    """A VPC that is locked, and what is taken in it."""

    facts: VpcFacts
    subnets: list[IPv4Network]
    addresses: set[IPv4Address] = field(default_factory=set)
    ranges: list[IPv4Network] = field(default_factory=list)
    leaving: list[IPv4Network] = field(default_factory=list)
    """Those of them that instances have which are being deleted, and their addresses."""

    def taken(self, what: IPv4Address | IPv4Network) -> str:
        """Why nobody else gets what is in use."""
        asked = IPv4Network(what)
        leaves = any(asked.overlaps(each) for each in self.leaving)
        return (rules.LEAVING if leaves else rules.TAKEN).format(what)


async def place(
    context: Context, host: Host, wanted: Sequence[WantedPlace], without: int | None
) -> list[Place]:
    """As InstanceVpcs.place; the VPCs stay locked until the end of the transaction."""
    ids = {each.subnet_id for each in wanted}
    locked = await queries.lock_all_of(context.db, context.account_id, ids)
    await require_all(context, VPC.name, [vpc.id for vpc in locked], "read_write")
    subnets = {
        each.id: each for each in await queries.subnets_of(context.db, [v.id for v in locked])
    }
    vpcs = {vpc.id: await _read(context, vpc, list(subnets.values()), without) for vpc in locked}
    public = [str(a.interface.ip) for a in await held_by(context.db, host.id) if a.public]
    refused = await objections(context.db, "natted", public)
    problems, places = list[Problem](), list[Place]()
    for each in wanted:
        try:
            subnet = subnets.get(each.subnet_id)
            if subnet is None:
                raise _RefusedError("subnet_id", "subnet_id is not valid")
            places.append(_place(host, each, vpcs[subnet.vpc_id], subnet, public, refused))
        except _RefusedError as error:
            problems.append(Problem(error.reason, each.field + error.name))
    if problems:
        raise invalid_fields(problems)
    return places


async def _read(
    context: Context, vpc: VpcFacts, subnets: Sequence[SubnetFacts], without: int | None
) -> _Vpc:
    found = _Vpc(vpc, [each.ipv4 for each in subnets if each.vpc_id == vpc.id])
    for usage in await address_queries.usages(context.db, vpc.id):
        if usage.id != without:
            found.addresses.add(IPv4Address(usage.address))
            found.ranges += map(IPv4Network, usage.ip_ranges)
            if usage.leaving:
                found.leaving += map(IPv4Network, (usage.address, *usage.ip_ranges))
    return found


def _place(
    host: Host,
    wanted: WantedPlace,
    vpc: _Vpc,
    subnet: SubnetFacts,
    public: list[str],
    refused: Mapping[str, str],
) -> Place:
    """Takes what it gives from `vpc` and `public`, so that no other interface gets it."""
    if vpc.facts.region != host.region:
        raise _RefusedError("subnet_id", ELSEWHERE)
    given = None if wanted.address is None else _address(wanted.address, vpc, subnet.ipv4)
    ranges = list(_ranges(wanted.ip_ranges, vpc, subnet.ipv4, given))
    vpc.ranges += ranges
    address = _free(vpc, subnet.ipv4) if given is None else given
    vpc.addresses.add(address)
    return Place(
        vpc_id=vpc.facts.id,
        subnet_id=subnet.id,
        address=f"{address}/{subnet.ipv4.prefixlen}",
        nat_1_1=_public(host, wanted.nat_1_1, public, refused),
        ip_ranges=[str(each) for each in ranges],
    )


def _address(text: str, vpc: _Vpc, subnet: IPv4Network) -> IPv4Address:
    try:
        address = IPv4Address(text)
    except AddressValueError:
        raise _RefusedError("ipv4.vpc", "Must be an IPv4 address") from None
    if not rules.is_usable(address, subnet):
        raise _RefusedError("ipv4.vpc", rules.OUTSIDE.format(subnet))
    if address in vpc.addresses or any(address in each for each in vpc.ranges):
        raise _RefusedError("ipv4.vpc", vpc.taken(address))
    return address


def _free(vpc: _Vpc, subnet: IPv4Network) -> IPv4Address:
    taken = [IPv4Network(each) for each in vpc.addresses if each in subnet]
    address = rules.first_free(subnet, [*taken, *vpc.ranges])
    if address is None:
        raise _RefusedError("subnet_id", FULL.format(subnet))
    return address


def _ranges(
    texts: Sequence[str], vpc: _Vpc, subnet: IPv4Network, own: IPv4Address | None
) -> Iterator[IPv4Network]:
    seen = list(vpc.ranges)
    addresses = vpc.addresses if own is None else {*vpc.addresses, own}
    for at, text in enumerate(texts):
        name = f"ip_ranges[{at}]"
        try:
            network = rules.parse_network(text)
        except PydanticCustomError as error:
            raise _RefusedError(name, error.message()) from None
        problem = rules.range_problem(network, subnet, vpc.subnets)
        if problem is not None:
            raise _RefusedError(name, problem)
        other = rules.overlapping(network, seen)
        if other is not None:
            raise _RefusedError(name, rules.OVERLAPS.format(other))
        used = next((each for each in addresses if each in network), None)
        if used is not None:
            raise _RefusedError(name, vpc.taken(used))
        seen.append(network)
        yield network


def _public(
    host: Host, wanted: str | None, public: list[str], refused: Mapping[str, str]
) -> str | None:
    """Each stands for one interface of a config; `refused` says why some cannot."""
    if wanted is None:
        return None
    if wanted != "any" and host.new:
        raise _RefusedError("ipv4.nat_1_1", ONLY_ANY)
    chosen = wanted
    if wanted == "any" and public:
        chosen = next((each for each in public if each not in refused), public[0])
    if chosen not in public:
        raise _RefusedError("ipv4.nat_1_1", NOT_PUBLIC)
    if chosen in refused:
        raise _RefusedError("ipv4.nat_1_1", refused[chosen])
    public.remove(chosen)
    return chosen
