"""Limits of accounts, and what the hosts of regions can hold: exact, also for requests at once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

import pytest

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.core.engine import Folder, Host
from roost.core.limits import queries
from roost.core.limits.kinds import SERVICES
from roost.core.planes import Engines
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.jobs import CAPACITY, CapacityArgs
from tests.api.conftest import Account
from tests.support.client import Answer, Client, Json, until
from tests.support.instances import INSTANCES, OMITTED, create_body, made
from tests.support.keys import KEY
from tests.support.volumes import VOLUMES, made_volume, paused, rested, volume_body

AT_ONCE = 6
VLAN_REASON = "An account may have at most 10 VLANs in a region"
Body = Callable[[int], Json]

CASES: dict[str, tuple[str, str, Body]] = {
    "instances": ("instances", INSTANCES, lambda n: create_body(label=f"one-{n}")),
    "volumes": ("volumes", VOLUMES, lambda n: volume_body(label=f"vol{n}")),
    "domains": (
        "domains",
        "/domains",
        lambda n: {"domain": f"q{n}.example", "type": "master", "soa_email": "a@b.example"},
    ),
    "SSH keys": ("ssh_keys", "/profile/sshkeys", lambda n: {"label": f"{n}", "ssh_key": KEY}),
    "OAuth clients": (
        "oauth_clients",
        "/account/oauth-clients",
        lambda n: {"label": f"{n}", "redirect_uri": "https://app.example/back"},
    ),
    "tags": ("tags", "/tags", lambda n: {"label": f"tag-{n}"}),
    "tags by use": ("tags", VOLUMES, lambda n: volume_body(label=f"v{n}", tags=[f"tag-{n}"])),
    "tickets": (
        "tickets",
        "/support/tickets",
        lambda n: {"summary": f"{n}", "description": "Please"},
    ),
}


async def allow(roost: Roost, account: Account, name: str, amount: int) -> None:
    assert await queries.set_limit(roost.store, account.id, name, amount)


async def used(roost: Roost, account: Account) -> dict[str, int]:
    counts = dict[str, int]()
    for group in GROUPS.limits:
        counts |= (await queries.read(roost.store, account.id, group)).used
    return counts


def test_the_catalogue_and_the_groups_know_the_same_limits() -> None:
    counted = [kind.name for group in GROUPS.limits for kind in group.kinds]
    assert sorted(counted) == sorted(GROUPS.limit_kinds)
    assert len({group.name for group in GROUPS.limits}) == len(GROUPS.limits)


@pytest.mark.parametrize("case", CASES)
async def test_of_many_requests_at_a_limit_as_many_pass_as_it_allows(
    roost: Roost, client: Client, account: Account, case: str
) -> None:
    name, path, body = CASES[case]
    before = (await used(roost, account))[name]
    await allow(roost, account, name, before + 2)
    answers = await asyncio.gather(
        *(client.send("POST", path, body(n)) for n in range(AT_ONCE)),
    )
    refused = [answer for answer in answers if answer.status != 200]
    assert len(refused) == AT_ONCE - 2
    for answer in refused:
        assert answer.status == 400
        ((field, reason),) = answer.problems
        assert field is None
        assert str(before + 2) in reason
        if path == INSTANCES or (path == VOLUMES and name == "volumes"):
            assert reason.startswith(SERVICES)
    assert (await used(roost, account))[name] == before + 2


async def test_users_are_counted(roost: Roost, client: Client, account: Account) -> None:
    await allow(roost, account, "users", 1)
    body = {"username": f"more-{account.id}", "email": "more@example.com"}
    answer = await client.send("POST", "/account/users", body)
    assert answer.problems == [
        (None, "You've reached a limit for the number of users on your account: 1.")
    ]


@pytest.mark.parametrize(
    ("name", "amount"), [("memory", 1024), ("vcpus", 1), ("storage", 25600), ("instances", 1)]
)
async def test_an_instance_counts_with_all_that_its_plan_gives(
    roost: Roost, client: Client, account: Account, name: str, amount: int
) -> None:
    await allow(roost, account, name, amount)
    first = await made(client)
    assert (await used(roost, account))[name] == amount
    assert _is_limited(await client.send("POST", INSTANCES, create_body()))
    clone = {"region": "us-lake", "type": "g1-nano-1"}
    assert _is_limited(await client.send("POST", f"{INSTANCES}/{first['id']}/clone", clone))
    assert (await used(roost, account))[name] == amount


async def test_a_plan_that_is_on_its_way_counts(
    roost: Roost, client: Client, account: Account
) -> None:
    ids = [(await made(client))["id"] for _ in range(2)]
    await allow(roost, account, "memory", 3 * 1024)
    answers = await asyncio.gather(
        *(
            client.send("POST", f"{INSTANCES}/{each}/resize", {"type": "g1-standard-1"})
            for each in ids
        )
    )
    assert sorted(answer.status for answer in answers) == [200, 400]
    assert sum(_is_limited(answer) for answer in answers) == 1


async def test_who_has_too_much_may_still_take_less(
    roost: Roost, client: Client, account: Account
) -> None:
    row = await made(client, type="g1-standard-1", image=OMITTED, root_pass=OMITTED)
    await allow(roost, account, "instances", 0)
    await allow(roost, account, "memory", 1)
    await client.post(f"{INSTANCES}/{row['id']}/resize", {"type": "g1-nano-1"})


async def test_storage_of_volumes_is_counted_also_while_they_grow(
    roost: Roost, client: Client, account: Account
) -> None:
    ids = [(await made_volume(client, label=label, size=10))["id"] for label in ("a", "b")]
    await allow(roost, account, "volume_storage", 30)
    async with paused(roost, "volume_resize"):
        answers = [
            await client.send("POST", f"{VOLUMES}/{each}/resize", {"size": 20}) for each in ids
        ]
        assert answers[0].status == 200
        assert _is_limited(answers[1])
        assert _is_limited(await client.send("POST", f"{VOLUMES}/{ids[1]}/clone", {"label": "c"}))
    await rested(client, ids[0])
    assert (await used(roost, account))["volume_storage"] == 30


async def test_the_catalogues_limits_hold_again_after_a_reset(
    roost: Roost, client: Client, account: Account
) -> None:
    await allow(roost, account, "tags", 0)
    assert (await client.send("POST", "/tags", {"label": "one"})).status == 400
    assert await queries.reset_limit(roost.store, account.id, "tags")
    await client.post("/tags", {"label": "one"})


@pytest.mark.spec("B limits vlans")
async def test_ten_vlans_in_a_region(roost: Roost, client: Client) -> None:
    def vlans(*numbers: int) -> list[Json]:
        return [{"purpose": "vlan", "label": f"net-{n}"} for n in numbers]

    for first in (0, 3, 6):
        row = await client.post(INSTANCES, create_body(interfaces=vlans(*range(first, first + 3))))
    answers = await asyncio.gather(
        *(client.send("POST", INSTANCES, create_body(interfaces=vlans(n))) for n in (9, 10, 11))
    )
    assert sorted(answer.status for answer in answers) == [200, 400, 400]
    refused = next(answer for answer in answers if answer.status == 400)
    assert refused.problems == [("interfaces", VLAN_REASON)]
    one = f"{INSTANCES}/{row['id']}"
    await until(lambda: client.get(one), lambda found: found["status"] == "offline")
    more = {"label": "more", "devices": {}, "interfaces": vlans(12)}
    assert (await client.send("POST", f"{one}/configs", more)).problems == [
        ("interfaces", VLAN_REASON)
    ]
    config = await client.post(f"{one}/configs", {**more, "interfaces": vlans(0)})
    path = f"{one}/configs/{config['id']}"
    answer = await client.send("PUT", path, {"interfaces": vlans(13)})
    assert answer.problems == [("interfaces", VLAN_REASON)]
    answer = await client.send("POST", f"{path}/interfaces", vlans(14)[0])
    assert answer.problems == [("label", VLAN_REASON)]
    await client.post(f"{path}/interfaces", vlans(5)[0])
    await client.post(INSTANCES, create_body(region="br-south", interfaces=vlans(20)))


def _host(free: int) -> Callable[[], Awaitable[Host]]:
    """With 2 GB of memory and 10 GB of storage; `free` are MB."""

    async def host() -> Host:
        return Host((Folder("/srv", free << 20, 10240 << 20),), 2048 << 20, 2048 << 20)

    return host


@pytest.fixture
async def host(roost: Roost, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """The region `local` has a host with 2 GB of memory and 10 GB of storage."""

    engine = roost.services.get(Engines).of(INSTANCE_PLANE, "local")
    with monkeypatch.context() as patch:
        patch.setattr(engine, "host", _host(free=10240))
        await _look(roost)
        yield
    await _look(roost)


async def test_a_region_promises_what_its_host_has(
    roost: Roost, client: Client, stranger: Client, host: None
) -> None:
    """Half as much memory again and ten times the storage, of all accounts together."""
    tiny = create_body(region="local", image=OMITTED, root_pass=OMITTED, booted=OMITTED)
    answers = await asyncio.gather(
        *(each.send("POST", INSTANCES, tiny) for each in (client, stranger, client, stranger))
    )
    assert sorted(answer.status for answer in answers) == [200, 200, 200, 400]
    refused = next(answer for answer in answers if answer.status == 400)
    assert refused.problems == [("region", "The region has no capacity for this plan type")]
    row = next(answer.body for answer in answers if answer.status == 200)
    volume = volume_body(region="local", size=26)
    refused = await client.send("POST", VOLUMES, volume)
    assert refused.problems == [("size", "The region has no capacity for a volume of this size")]
    await client.post(VOLUMES, {**volume, "size": 25})
    await _delete_all(client, stranger)
    assert row["region"] == "local"


async def test_a_resize_needs_room_too(roost: Roost, client: Client, host: None) -> None:
    row = await made(client, region="local", image=OMITTED, root_pass=OMITTED, booted=OMITTED)
    path = f"{INSTANCES}/{row['id']}/resize"
    answer = await client.send("POST", path, {"type": "g1-standard-2"})
    assert answer.problems == [("type", "The region has no capacity for this plan type")]
    await _delete_all(client)


async def test_a_full_disk_takes_nothing(
    roost: Roost, client: Client, monkeypatch: pytest.MonkeyPatch, host: None
) -> None:
    engine = roost.services.get(Engines).of(INSTANCE_PLANE, "local")
    monkeypatch.setattr(engine, "host", _host(free=1023))
    await _look(roost)
    answer = await client.send("POST", VOLUMES, volume_body(region="local"))
    assert answer.problems == [("size", "The region has no capacity for a volume of this size")]


def _is_limited(answer: Answer) -> bool:
    return any(field is None and reason.startswith(SERVICES) for field, reason in answer.problems)


async def _look(roost: Roost) -> None:
    job = await roost.queue.enqueue(roost.store, CAPACITY, CapacityArgs())
    status = "select status from job where id = $1"
    await until(lambda: roost.store.fetchval(status, job.id), lambda found: found == "done")


async def _delete_all(*clients: Client) -> None:
    for client in clients:
        for path in (INSTANCES, VOLUMES):
            for row in (await client.get(path))["data"]:
                await client.send("DELETE", f"{path}/{row['id']}")
        await until(partial(client.get, INSTANCES), lambda page: page["results"] == 0)
