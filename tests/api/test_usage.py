"""What instances use: statistics and transfer."""

from dataclasses import replace
from datetime import UTC, date, timedelta

import pytest

from roost.app.roost import Roost
from roost.resources.compute.network_engine import Traffic
from tests.api.conftest import Account
from tests.support.client import Client, Json
from tests.support.disks import path_of
from tests.support.instances import made
from tests.support.usage import RESTED, as_old_as_the_month, measure

GB = 10**9
UNAVAILABLE = [(None, "Stats are unavailable at this time.")]
BUSY = replace(
    RESTED,
    cpu_seconds=150,
    traffic=Traffic("first", 3_000_000, 30_000_000, 300, 600, 900_000, 9_000_000),
)


def values(series: Json) -> list[float]:
    return [value for _, value in series]


async def test_statistics_of_a_day(client: Client, roost: Roost) -> None:
    row = await made(client)
    first = await measure(roost, row["id"], RESTED, BUSY, BUSY)
    stats = await client.get(f"{path_of(row)}/stats")
    assert stats["title"] == f"{row['label']} - day (5 min avg)"
    assert values(stats["cpu"]) == [50, 0]
    assert values(stats["netv4"]["in"]) == [80_000, 0]
    assert values(stats["netv4"]["out"]) == [800_000, 0]
    assert values(stats["netv4"]["private_in"]) == [8, 0]
    assert values(stats["netv4"]["private_out"]) == [16, 0]
    assert values(stats["netv6"]["in"]) == [24_000, 0]
    assert values(stats["netv6"]["out"]) == [240_000, 0]
    assert values(stats["netv6"]["private_in"]) == [0, 0]
    times = [ms for ms, _ in stats["io"]["swap"]]
    begin = first.replace(tzinfo=UTC).timestamp()
    assert [0 <= begin + 300 * n - ms / 1000 + 150 < 600 for n, ms in enumerate(times)] == [
        True
    ] * 2
    assert all(ms % 300_000 == 0 for ms in times)


async def test_disks_and_swap(client: Client, roost: Roost) -> None:
    row = await made(client, swap_size=512)
    disks = (await client.get(f"{path_of(row)}/disks"))["data"]
    ids = {disk["filesystem"]: disk["id"] for disk in disks}
    moved = replace(RESTED, disks={ids["ext4"]: 300 * 4096 * 7, ids["swap"]: 300 * 4096 * 2})
    await measure(roost, row["id"], replace(RESTED, disks=dict.fromkeys(moved.disks, 0)), moved)
    stats = await client.get(f"{path_of(row)}/stats")
    assert values(stats["io"]["io"]) == [7]
    assert values(stats["io"]["swap"]) == [2]


async def test_before_the_first_reading(client: Client, roost: Roost) -> None:
    row = await made(client)
    month = f"{roost.clock.now():%Y/%m}"
    for path in ("stats", f"stats/{month}", "stats/2001/1"):
        answer = await client.send("GET", f"{path_of(row)}/{path}")
        assert (answer.status, answer.problems) == (400, UNAVAILABLE)
    await measure(roost, row["id"], RESTED)
    answer = await client.send("GET", f"{path_of(row)}/stats")
    assert (answer.status, answer.problems) == (400, UNAVAILABLE)


async def test_statistics_of_a_month(client: Client, roost: Roost) -> None:
    row = await made(client)
    first = await measure(roost, row["id"], RESTED, BUSY)
    stats = await client.get(f"{path_of(row)}/stats/{first:%Y/%m}")
    assert stats["title"] == f"{row['label']} - {first:%B %Y} (1 hour avg)"
    assert values(stats["cpu"]) == [50]
    [(at, _)] = stats["netv4"]["in"]
    assert at % 3_600_000 == 0


@pytest.mark.parametrize("what", ["stats", "transfer"])
@pytest.mark.parametrize("month", ["1999/12", "2038/1", "2026/0", "2026/13", "2026/-1", "x/1"])
async def test_what_is_no_month(client: Client, what: str, month: str) -> None:
    row = await made(client)
    assert (await client.send("GET", f"{path_of(row)}/{what}/{month}")).status == 404


@pytest.mark.parametrize("what", ["stats", "transfer"])
async def test_a_month_that_has_not_begun(client: Client, roost: Roost, what: str) -> None:
    row = await made(client)
    following = (roost.clock.now().replace(day=1) + timedelta(days=32)).strftime("%Y/%m")
    assert (await client.send("GET", f"{path_of(row)}/{what}/{following}")).status == 404


async def test_transfer_of_an_instance(client: Client, roost: Roost, account: Account) -> None:
    row = await made(client)
    path = path_of(row)
    begun = await client.get(f"{path}/transfer")
    assert begun["used"] == begun["billable"] == 0
    sent = (begun["quota"] + 3) * GB
    first = await measure(
        roost,
        row["id"],
        RESTED,
        replace(RESTED, traffic=Traffic("first", 5, sent - 7, 99, 99, 6, 7)),
    )
    assert await client.get(f"{path}/transfer") == {**begun, "used": sent, "billable": 3}
    month = {"bytes_in": 11, "bytes_out": sent, "bytes_total": sent + 11}
    assert await client.get(f"{path}/transfer/{first:%Y/%m}") == month
    nothing = {"bytes_in": 0, "bytes_out": 0, "bytes_total": 0}
    assert await client.get(f"{path}/transfer/2001/2") == nothing
    pool = await client.get("/account/transfer")
    assert (pool["used"], pool["billable"]) == (begun["quota"] + 3, 3)


async def test_the_pool_is_shared_and_outlives_instances(
    client: Client, roost: Roost, account: Account
) -> None:
    """What one sends too much, another's plan makes room for."""
    one, other = await made(client), await made(client)
    await as_old_as_the_month(roost, one["id"], other["id"])
    alone = (await client.get(f"{path_of(one)}/transfer"))["quota"]
    sent = (alone + 3) * GB
    await measure(roost, one["id"], replace(RESTED, traffic=Traffic("first", ipv4_out=sent)))
    transfer = await client.get(f"{path_of(one)}/transfer")
    assert (transfer["used"], transfer["billable"]) == (sent, 0)
    pool = await client.get("/account/transfer")
    assert (pool["used"], pool["billable"]) == (alone + 3, 0)
    await roost.store.execute("delete from compute_instance where id = $1", one["id"])
    assert (await client.get("/account/transfer"))["used"] == alone + 3
    assert (await client.get(f"{path_of(other)}/transfer"))["used"] == 0


async def test_each_month_by_itself(client: Client, roost: Roost, account: Account) -> None:
    row = await made(client)
    await measure(roost, row["id"], replace(RESTED, traffic=Traffic("first", ipv4_out=5 * GB)))
    await roost.store.execute(
        "update usage_month set month = $2 where account_id = $1", account.id, date(2001, 2, 1)
    )
    assert (await client.get(f"{path_of(row)}/transfer"))["used"] == 0
    assert (await client.get("/account/transfer"))["used"] == 0
    assert (await client.get(f"{path_of(row)}/transfer/2001/2"))["bytes_out"] == 5 * GB
