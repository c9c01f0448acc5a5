"""Instances put in place by hand, in whatever state, where no worker sets them right."""

from dataclasses import dataclass

import orjson

from roost.app.roost import Roost
from roost.core import instance_queries
from roost.core.addresses.service import allocate
from roost.core.instance_queries import InstanceFacts, InstanceStatus
from roost.core.planes import Engines
from roost.engines.simulated.instances import SimulatedInstances
from roost.ids import new_uuid
from roost.resources.compute import address_queries, filter_service, profile_queries, queries, rules
from roost.resources.compute.configs import queries as configs
from roost.resources.compute.configs.rules import default_helpers
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.disks.queries import DiskFacts
from roost.resources.compute.disks.records import SealedSetup
from roost.resources.compute.engine import INSTANCE_PLANE, InstanceSpec, Power
from roost.resources.compute.profile_queries import Profile
from roost.resources.compute.service import default_alerts
from roost.resources.compute.steps import specify
from roost.secrets import Box
from roost.settings import MAIN_HOST
from roost.store import Queries

REGION = "us-lake"
PLAN = "g1-nano-1"
SWAP = 512

_TABLES = (
    *("object_key", "object_bucket"),
    *("job", "event", "volume", "compute_instance", "domain"),
    *("ip_address", "ip_address_fill", "reverse_name"),
)


@dataclass(frozen=True, slots=True)
class Stage:
    roost: Roost

    def engine(self, region: str = REGION) -> SimulatedInstances:
        engine = self.roost.services.get(Engines).of(INSTANCE_PLANE, region)
        assert isinstance(engine, SimulatedInstances)
        return engine

    async def instance(
        self,
        status: InstanceStatus = "running",
        power: Power | None = None,
        *,
        region: str = REGION,
        made: bool = True,
        watchdog: bool = True,
    ) -> int:
        """A row with an address, two disks and a config; with `power` also a guest.

        It rests when all of it is there: a watch would set right what is half made.
        """
        store = self.roost.store
        account_id = await store.fetchval("select min(id) from account")
        compute_id = await queries.next_id(store)
        new = self._row(compute_id, account_id, "provisioning", region)
        async with store.transaction() as db:
            await queries.insert(db, new)
            held = await allocate(db, REGION, True, account_id, compute_id)
            await address_queries.set_ipv4(db, compute_id, [str(held.interface.ip)])
            config_id = await profile_queries.insert(db, self._profile(new))
            if made:
                await disks.set_made(
                    db,
                    {each.id: each.setup for each in await self.disks(compute_id, db)},
                    new["now"],
                )
        await self.change(compute_id, "watchdog_enabled = $2, config_id = $3", watchdog, config_id)
        if power is not None:
            await self.make_guest(compute_id, power)
        await self.change(compute_id, "status = $2", status)
        return compute_id

    def _row(
        self, compute_id: int, account_id: int, status: InstanceStatus, region: str
    ) -> queries.NewInstance:
        plan = self.roost.catalog.type(PLAN)
        return {
            "id": compute_id,
            "account_id": account_id,
            "label": rules.default_label(compute_id),
            "group": "",
            "tags": [],
            "region": region,
            "image": "roost/debian12",
            "type": PLAN,
            "status": status,
            "now": self.roost.clock.seconds(),
            "ipv4": [],
            "ipv6": "2001:db8::1/128",
            "disk": plan.disk,
            "memory": plan.memory,
            "vcpus": plan.vcpus,
            "gpus": plan.gpus,
            "transfer": plan.transfer,
            "alerts": default_alerts(plan.vcpus),
            "host_uuid": new_uuid(),
            "backups_enabled": True,
            "engine": SimulatedInstances.name,
            "host": MAIN_HOST,
            "user_data": None,
        }

    def _profile(self, new: queries.NewInstance) -> Profile:
        return Profile(
            compute_id=new["id"],
            now=new["now"],
            image="roost/debian12",
            disk_label="Debian 12 Disk",
            disk_size=new["disk"] - SWAP,
            setup=SealedSetup(root_pass="secret").seal(self.roost.services.get(Box)),
            swap_label="512 MB Swap Image",
            swap_size=SWAP,
            config_label="My Debian 12 Disk Profile",
            kernel="roost/latest-64bit",
            helpers=orjson.dumps(default_helpers(network=True)).decode(),
            interfaces="[]",
        )

    async def disks(self, compute_id: int, db: Queries | None = None) -> list[DiskFacts]:
        """The image's disk, then the swap."""
        return await disks.of_instance(db or self.roost.store, compute_id)

    async def clear(self) -> None:
        """Take everything away that checks would look at, whatever it is the row or the guest of.

        Ids go on: nothing new is taken for something old.
        """
        for table in _TABLES:
            await self.roost.store.execute(f"delete from {table}")
        await self._forget_hosts()
        for region in self.roost.services.get(Engines).by_region(INSTANCE_PLANE):
            await self.engine(region).reset()

    async def _forget_hosts(self) -> None:
        """Work would be left to a host that lived half a minute ago, and wait for it in vain."""
        store = self.roost.store
        await store.execute("delete from region_capacity where host <> $1", MAIN_HOST)
        await store.execute("delete from host where name <> $1", MAIN_HOST)
        await store.execute("update host set address = null")

    async def row(self, compute_id: int) -> InstanceFacts:
        row = await instance_queries.find(self.roost.store, compute_id)
        assert row is not None
        return row

    async def change(self, compute_id: int, assignment: str, *values: object) -> None:
        """Write to a row behind everybody's back."""
        sql = f"update compute_instance set {assignment} where id = $1"
        await self.roost.store.execute(sql, compute_id, *values)

    async def readdress(self, compute_id: int) -> None:
        """Let its guest send from what its row says; its firewalls stay as they are."""
        row = await self.row(compute_id)
        wanted = await filter_service.wanted(self.roost.store, self.roost.services, row)
        await self.engine(row.region).addresses.set(wanted.addresses)

    async def spec(self, compute_id: int) -> InstanceSpec:
        row = await self.row(compute_id)
        assert row.config_id is not None
        config = await configs.find_boot(self.roost.store, row.config_id)
        assert config is not None
        return await specify(self.roost.store, self.roost.services, row, config)

    async def make_guest(self, compute_id: int, power: Power) -> None:
        for disk in await self.disks(compute_id):
            await self.engine().disks.make(disk.spec)
        if power == "running":
            await self.engine().start(await self.spec(compute_id))

    async def power(self, compute_id: int) -> Power | None:
        state = await self.engine().inspect(compute_id)
        return None if state is None else state.power

    async def status(self, compute_id: int) -> InstanceStatus | None:
        row = await instance_queries.find(self.roost.store, compute_id)
        return None if row is None else row.status

    async def reasons(self, compute_id: int) -> list[tuple[str, str]]:
        """Action and message of its events, the oldest first."""
        rows = await self.roost.store.fetch(
            "select action, message from event where entity_id = $1 order by id", str(compute_id)
        )
        return [(row["action"], row["message"]) for row in rows]

    async def events(self, compute_id: int) -> list[tuple[str, str, str | None]]:
        """Action, status and user, the oldest first."""
        rows = await self.roost.store.fetch(
            "select action, status, username from event where entity_id = $1 order by id",
            str(compute_id),
        )
        return [(row["action"], row["status"], row["username"]) for row in rows]
