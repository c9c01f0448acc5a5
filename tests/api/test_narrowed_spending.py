"""The amount of money for each month of a narrowed token (docs/tokens.md)."""

import asyncio
from collections.abc import Awaitable, Callable
from decimal import Decimal

import pytest

from roost.app.roost import Roost
from roost.core.billing.charges import month_start, next_month
from roost.core.billing.spending_queries import delete_old, spent
from roost.core.narrowing.chain import read
from roost.core.narrowing.restrictions import narrowing_of
from tests.support.client import Answer, Client, Json, until
from tests.support.databases import DATABASES, made_database
from tests.support.instances import INSTANCES, create_body, made
from tests.support.narrowing import narrowed
from tests.support.volumes import VOLUMES, made_volume


def body(size: int, **more: Json) -> Json:
    return {"label": f"v{size}", "region": "us-lake", "size": size, **more}


def too_dear(answer: Answer) -> bool:
    (problem,) = answer.problems or [(None, "")]
    return answer.status == 403 and problem[1].startswith("The token is restricted: monthly_cost")


async def price_of(client: Client, size: int) -> Decimal:
    """Of a volume, as a dry run says."""
    found = await client.post(f"{VOLUMES}?dry_run=true", body(size))
    return Decimal(str(found["monthly"]))


async def test_what_is_made_may_cost_so_much(client: Client) -> None:
    price = await price_of(client, 10)
    assert price > 0
    child = narrowed(client, {"monthly_cost": f"{2 * price:.2f}"})
    one = await child.post(VOLUMES, body(10, label="a"))
    assert await child.post(f"{VOLUMES}?dry_run=true", body(10, label="b"))
    await child.post(VOLUMES, body(10, label="b"))
    for path in (VOLUMES, f"{VOLUMES}?dry_run=true"):
        answer = await child.send("POST", path, body(10, label="c"))
        assert answer.problems == [
            (
                None,
                f"The token is restricted: monthly_cost is {2 * price:.2f}, "
                f"and it would be {3 * price:.2f}",
            )
        ]
    assert too_dear(await child.send("POST", INSTANCES, create_body()))
    assert (await client.get(VOLUMES))["results"] == 2
    assert await child.put(f"{VOLUMES}/{one['id']}", {"label": "free"})
    assert await client.post(VOLUMES, body(10, label="of-the-owner"))


async def test_what_is_deleted_still_counts_in_its_month(client: Client) -> None:
    price = await price_of(client, 10)
    child = narrowed(client, {"monthly_cost": f"{price:.2f}"})
    row = await made_volume(child, size=10)
    await child.delete(f"{VOLUMES}/{row['id']}")
    assert too_dear(await child.send("POST", VOLUMES, body(10)))


async def test_of_a_new_month(client: Client, roost: Roost) -> None:
    """What is still there counts, and what went before it does not."""
    price, now = await price_of(client, 10), roost.clock.now()
    child = narrowed(client, {"monthly_cost": f"{2 * price:.2f}"})
    await made_volume(child, size=10, label="kept")
    path = f"{VOLUMES}/{(await made_volume(child, size=10, label='gone'))['id']}"
    await child.delete(path)
    await until(lambda: client.send("GET", path), lambda answer: answer.status == 404)
    assert child.token is not None
    (budget,) = narrowing_of(read(child.token)).budgets
    months = month_start(now), next_month(next_month(now))
    assert [await spent(roost.store, budget.key, month) for month in months] == [2 * price, price]
    for month, left in ((months[0], 2), (months[1], 1)):
        await delete_old(roost.store, month, 1000)
        found = "select count(*) from token_spending where budget = $1"
        assert await roost.store.fetchval(found, budget.key) == left
    assert await spent(roost.store, budget.key, months[1]) == price


async def test_a_resize_counts_by_how_much_it_is_dearer(client: Client) -> None:
    ten, twenty = await price_of(client, 10), await price_of(client, 20)
    mine = await made_volume(client, size=10)
    child = narrowed(client, {"monthly_cost": f"{twenty - ten:.2f}"})
    assert await child.post(f"{VOLUMES}/{mine['id']}/resize", {"size": 20})
    assert too_dear(await child.send("POST", VOLUMES, body(10)))
    other = await made_volume(client, size=10, label="other")
    assert too_dear(await child.send("POST", f"{VOLUMES}/{other['id']}/resize", {"size": 11}))


async def _enable_backups(client: Client) -> tuple[str, str, Json]:
    return "POST", f"{INSTANCES}/{(await made(client))['id']}/backups/enable", {}


async def _resize_database(client: Client) -> tuple[str, str, Json]:
    return "PUT", f"{DATABASES}/{(await made_database(client))['id']}", {"type": "g1-standard-1"}


@pytest.mark.parametrize("prepare", [_enable_backups, _resize_database])
async def test_other_changes_count_by_how_much_they_are_dearer(
    client: Client, prepare: Callable[[Client], Awaitable[tuple[str, str, Json]]]
) -> None:
    """A cent less is not enough, and then nothing is changed; a free change needs no money."""
    method, path, sent = await prepare(client)
    found = await client.send(method, f"{path}?dry_run=true", sent)
    dearer = Decimal(str(found.body["monthly"]))
    assert dearer > 0
    poor, rich = (
        narrowed(client, {"monthly_cost": f"{amount:.2f}"})
        for amount in (dearer - Decimal("0.01"), dearer)
    )
    assert too_dear(await poor.send(method, path, sent))
    again = await client.send(method, f"{path}?dry_run=true", sent)
    assert again.body == found.body
    entity = path.removesuffix("/backups/enable")
    assert await narrowed(client, {"monthly_cost": "0"}).put(entity, {"label": "free"})
    assert (await rich.send(method, path, sent)).status == 200
    assert too_dear(await rich.send("POST", VOLUMES, body(10)))


async def test_narrowing_again_gives_no_new_money(client: Client) -> None:
    """Neither does another spelling of the amount; a larger one does not help either."""
    price = await price_of(client, 10)
    child = narrowed(client, {"monthly_cost": f"{price:.2f}"})
    await child.post(VOLUMES, body(10))
    for more in ({"methods": ["POST"]}, {"monthly_cost": "1000.00"}, {"monthly_cost": "0"}):
        again = narrowed(child, more)
        assert too_dear(await again.send("POST", VOLUMES, body(10, label="more")))
    other = narrowed(client, {"monthly_cost": f"{price:.2f}"})
    assert await other.post(VOLUMES, body(10, label="other"))


async def test_many_at_once(client: Client) -> None:
    """Of ten that ask together as many get theirs as the amount pays for."""
    price = await price_of(client, 10)
    child = narrowed(client, {"monthly_cost": f"{4 * price:.2f}"})
    grandchild = narrowed(child, {"operations": ["create_volume"]})
    answers = await asyncio.gather(
        *(
            (child, grandchild)[number % 2].send(
                "POST", VOLUMES, body(10, label=f"at-once-{number}")
            )
            for number in range(10)
        )
    )
    assert sorted(answer.status for answer in answers) == [200] * 4 + [403] * 6
    assert all(too_dear(answer) for answer in answers if answer.status == 403)
    assert (await client.get(VOLUMES))["results"] == 4


async def test_a_kept_answer_costs_nothing_again(client: Client) -> None:
    price = await price_of(client, 10)
    child = narrowed(client, {"monthly_cost": f"{price:.2f}"})
    headers = {"Idempotency-Key": "once"}
    answers = [await child.send("POST", VOLUMES, body(10), headers=headers) for _ in range(3)]
    assert {(answer.status, answer.raw) for answer in answers} == {(200, answers[0].raw)}


async def test_what_jobs_make_dearer_is_refused(client: Client) -> None:
    row = await made(client)
    child = narrowed(client, {"monthly_cost": "1000.00"})
    path = f"{INSTANCES}/{row['id']}"
    (disk, *_) = (await client.get(f"{path}/disks"))["data"]
    for where, sent in (
        (f"{path}/resize", {"type": "g1-standard-4"}),
        (f"{path}/migrate", {"region": "us-hill"}),
        (f"{path}/mutate", {}),
        ("/images", {"disk_id": disk["id"]}),
    ):
        answer = await child.send("POST", where, sent)
        assert answer.problems == [(None, "The token is restricted: monthly_cost")], where
    found = await child.get(f"/profile/explain?method=POST&path={path}/resize")
    assert found["restricted_by"] == "monthly_cost"
    assert await child.delete(path) == {}
