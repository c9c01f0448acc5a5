"""What VPCs are to the instances in them."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence, Set

from roost.core.access import require_all
from roost.core.context import Context
from roost.core.neighbours import Neighbour
from roost.resources.compute.neighbours import Host, InstanceVpcs, Nat, Place, WantedPlace
from roost.resources.compute.records import VpcAddressRow
from roost.resources.vpcs import address_queries, place_service, queries
from roost.resources.vpcs.entity import VPC
from roost.store import Queries


class VpcInterfaces(InstanceVpcs, Neighbour):
    """The interfaces of instances in VPCs. They go with their configs, and engines let go of them
    with their guests."""

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, str]:
        found = await queries.owners(context.db, context.account_id, ids)
        vpcs = {each.vpc_id for each in found.values()} if len(found) == len(set(ids)) else {0}
        await require_all(context, VPC.name, vpcs, "read_write")
        return {subnet.id: subnet.label for subnet in found.values()}

    async def place(
        self,
        context: Context,
        host: Host,
        wanted: Sequence[WantedPlace],
        without: int | None = None,
    ) -> list[Place]:
        return await place_service.place(context, host, wanted, without)

    async def routes(self, db: Queries, vpc_ids: Collection[int]) -> Mapping[int, Sequence[str]]:
        networks = defaultdict[int, list[str]](list)
        for subnet in await queries.subnets_of(db, vpc_ids):
            networks[subnet.vpc_id].append(str(subnet.ipv4))
        return networks

    async def addresses_of(self, db: Queries, compute_id: int) -> list[VpcAddressRow]:
        return await address_queries.of_instance(db, compute_id)

    async def nat_of(self, db: Queries, compute_id: int, address: str) -> Nat | None:
        return await address_queries.nat_of(db, compute_id, address)

    async def natted(self, db: Queries, compute_ids: Collection[int]) -> Set[tuple[int, str]]:
        return await address_queries.natted(db, compute_ids)
