"""What customers of a cloud do at the same time, again and again; what is refused is tried anew."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

from roost.resources.object_storage.engine import KeySpec
from tests.e2e.checks import SETTLE_SECONDS
from tests.support.client import Client, Json, until
from tests.support.firewalls import FIREWALLS, rule, rules
from tests.support.instances import INSTANCES
from tests.support.s3 import client_of
from tests.support.transfers import TRANSFERS

BUCKETS, KEYS = "/object-storage/buckets", "/object-storage/keys"
VOLUMES, DOMAINS = "/volumes", "/domains"
DATABASES = "/databases/mysql/instances"
CLUSTER, SHARED = "local-1", "photos"
OPEN = ("scheduled", "started")
_OBJECTS = 5


@dataclass
class User:
    """One account's, with how often each thing has been done."""

    name: str
    client: Client
    s3: str
    """The URL of the region's buckets."""
    done: dict[str, int] = field(default_factory=dict)

    async def tried(self, method: str, path: str, body: Json = None) -> Json | None:
        """What the API answers; None when it refuses, as something is under way."""
        answer = await self.client.send(method, path, body)
        assert answer.status in (200, 400, 404), (method, path, answer)
        return answer.body if answer.status == 200 else None

    async def rest(self) -> list[Json]:
        """All events, when nothing of the account is under way."""
        return await until(
            self._events,
            lambda rows: all(row["status"] not in OPEN for row in rows),
            SETTLE_SECONDS,
        )

    async def _events(self) -> list[Json]:
        rows, page = list[Json](), 1
        while True:
            found = await self.client.get(f"/account/events?page_size=500&page={page}")
            rows += found["data"]
            if page >= found["pages"]:
                return rows
            page += 1

    async def settled(
        self, kind: str, entity_id: int | str, label: str | None = None
    ) -> list[Json]:
        """Events of one thing, when none of them is under way.

        Buckets have the id of their cluster. (That nothing of the whole account is under way may
        never be seen while others work for it.)
        """
        wanted = {"entity.id": entity_id, "entity.type": kind}

        async def events() -> list[Json]:
            found = await self.client.get("/account/events?page_size=500", filter=wanted)
            rows: list[Json] = found["data"]
            return [row for row in rows if label in (None, row["entity"]["label"])]

        return await until(
            events,
            lambda rows: all(row["status"] not in OPEN for row in rows),
            SETTLE_SECONDS,
        )

    async def has(self, path: str) -> bool:
        return (await self.client.send("GET", path)).status == 200

    def counted(self, what: str) -> None:
        self.done[what] = self.done.get(what, 0) + 1

    async def again(
        self, work: Callable[[int], Awaitable[None]], until_time: float, *needed: str
    ) -> None:
        """Until then on the clock of the loop, and until all that is needed was done once; what has
        begun comes to its end."""
        for number in itertools.count():
            await work(number)
            late = asyncio.get_running_loop().time() > until_time
            if late and self.done.keys() >= set(needed):
                return


async def use_bucket(user: User, label: str, number: int) -> None:
    """Under a label that others want, too: nothing of theirs is ever in it."""
    body = {"label": label, "cluster": CLUSTER}
    if await user.tried("POST", BUCKETS, body) is None:
        await asyncio.sleep(0.5)  # Somebody else has it.
        return
    await user.settled("bucket", CLUSTER, label)
    key = await user.client.post(KEYS, {"label": f"{label}-{number}"})
    await user.settled("object_storage_key", key["id"])
    spec = KeySpec("key", key["access_key"], key["secret_key"], ())
    async with client_of(user.s3, spec) as s3:
        for held in range(_OBJECTS):
            name = f"{label}/{user.name}-{held}"
            status, text = await s3.send("GET", f"{label}?list-type=2")
            listed = text.decode()
            assert (status, listed.count("<Key>")) == (200, held), listed
            assert listed.count(f"<Key>{user.name}-") == held, listed
            assert await s3.status("PUT", name, user.name.encode()) == 200
            assert await s3.send("GET", name) == (200, user.name.encode())
        for held in range(_OBJECTS):
            assert await s3.status("DELETE", f"{label}/{user.name}-{held}") == 204
    assert await user.tried("DELETE", f"{BUCKETS}/{CLUSTER}/{label}") is not None
    await user.client.delete(f"{KEYS}/{key['id']}")
    await user.settled("bucket", CLUSTER, label)
    user.counted("bucket")


async def use_zone(user: User, number: int) -> None:
    """A zone that ends as it began: not there."""
    name = f"n{number}.{user.name}.example.org"
    body = {"domain": name, "type": "master", "soa_email": f"admin@{name}"}
    zone = await user.client.post(DOMAINS, body)
    path = f"{DOMAINS}/{zone['id']}"
    for last in range(3):
        record = {"type": "A", "name": f"h{last}", "target": f"192.0.2.{last + 1}"}
        await user.client.post(f"{path}/records", record)
    rows = (await user.client.get(f"{path}/records"))["data"]
    assert len([row for row in rows if row["type"] == "A"]) == 3
    await user.settled("domain", zone["id"])
    await user.client.delete(path)
    user.counted("zone")


async def guard(user: User, compute_id: int) -> Json:
    """A firewall before an instance."""
    body = {
        "label": f"guard-{compute_id}",
        "rules": rules(rule()),
        "devices": {"computes": [compute_id]},
    }
    row: Json = await user.client.post(FIREWALLS, body)
    return row


async def change_rules(user: User, firewall_id: int, number: int) -> None:
    ports = str(1000 + number % 60_000)
    changed = await user.tried(
        "PUT", f"{FIREWALLS}/{firewall_id}/rules", rules(rule(), rule(ports=ports))
    )
    if changed is not None:
        user.counted("rules")
    await user.settled("firewall", firewall_id)


async def use_guest(user: User, compute_id: int, volume_id: int, number: int) -> None:
    """Booted again, with a volume for a while."""
    if await user.tried("POST", f"{INSTANCES}/{compute_id}/reboot", {}) is not None:
        user.counted("reboot")
    await user.settled("compute", compute_id)
    path = f"{VOLUMES}/{volume_id}"
    action, body = ("detach", None) if number % 2 else ("attach", {"compute_id": compute_id})
    if await user.tried("POST", f"{path}/{action}", body) is not None:
        user.counted(action)
    await user.settled("volume", volume_id)


async def pass_on(owner: User, heir: User, compute_id: int) -> None:
    """An instance, to another account, while its owner puts it behind a firewall of theirs.

    One of both wins, and whoever has it then is not behind a stranger's firewall.
    """
    body = {"label": f"late-{compute_id}", "rules": rules(rule())}
    firewall_id = (await owner.client.post(FIREWALLS, body))["id"]
    firewall = f"{FIREWALLS}/{firewall_id}"
    offer = {"entities": {"computes": [compute_id]}}
    token = (await owner.client.post(TRANSFERS, offer))["token"]
    accept, device = f"{TRANSFERS}/{token}/accept", {"id": compute_id, "type": "compute"}
    accepted, _ = await asyncio.gather(
        heir.tried("POST", accept), owner.tried("POST", f"{firewall}/devices", device)
    )
    if accepted is None:
        await owner.client.delete(firewall)
        await owner.settled("firewall", firewall_id)
        await heir.client.post(accept)
    await until(partial(heir.has, f"{INSTANCES}/{compute_id}"), bool, SETTLE_SECONDS)
    assert (await heir.client.get(f"{INSTANCES}/{compute_id}/firewalls"))["data"] == []
    await heir.settled("compute", compute_id)
    if accepted is not None:
        assert (await owner.client.get(f"{firewall}/devices"))["data"] == []
        await owner.client.delete(firewall)
    heir.counted("transfer")


async def use_database(user: User, database_id: int, number: int) -> None:
    body = {"allow_list": [f"192.0.2.{number % 250 + 1}/32"]}
    if await user.tried("PUT", f"{DATABASES}/{database_id}", body) is not None:
        user.counted("allow list")
    await user.settled("database", database_id)
