"""Addresses are handed out once, from the catalogue's pools."""

import pytest

from roost.app.roost import Roost
from roost.core.addresses.queries import release, take_back
from roost.core.addresses.service import PoolExhaustedError, allocate, held_by
from tests.api.conftest import Account

REGION = "tiny"


@pytest.fixture
async def tiny_pool(roost: Roost) -> None:
    """A /29: eight addresses, of which network, broadcast and gateway are not for guests."""
    async with roost.store.transaction() as db:
        await db.execute(
            """
            insert into region select (jsonb_populate_record(r, $1)).* from region r
            where r.id = 'us-lake' on conflict do nothing
            """,
            f'{{"id": "{REGION}", "retired": true}}',
        )
        await db.execute("delete from ip_address where region = $1", REGION)
        await db.execute("delete from ip_address_fill where pool = '233.252.0.0/29'")
        await db.execute(
            """
            insert into ip_pool (region, kind, cidr, gateway)
            values ($1, 'public', '233.252.0.0/29', '233.252.0.1') on conflict do nothing
            """,
            REGION,
        )


async def take(roost: Roost, account: Account, compute_id: int) -> str:
    async with roost.store.transaction() as db:
        held = await allocate(db, REGION, True, account.id, compute_id)
    assert str(held.gateway) == "233.252.0.1"
    assert held.interface.network.prefixlen == 29
    return str(held.interface.ip)


async def give_back(roost: Roost, compute_id: int) -> None:
    async with roost.store.transaction() as db:
        await release(db, compute_id, roost.clock.now())


@pytest.mark.usefixtures("tiny_pool")
async def test_a_pool_to_its_last_address(roost: Roost, account: Account) -> None:
    given = [await take(roost, account, compute_id) for compute_id in range(1, 6)]
    assert given == [f"233.252.0.{n}" for n in range(2, 7)]
    with pytest.raises(PoolExhaustedError):
        await take(roost, account, 6)
    await give_back(roost, 4)
    await give_back(roost, 2)
    assert await take(roost, account, 7) == given[3]
    assert await take(roost, account, 8) == given[1]
    for compute_id in (1, 3, 5, 7, 8):
        await give_back(roost, compute_id)


@pytest.mark.usefixtures("tiny_pool")
async def test_a_gateway_that_moves(roost: Roost, account: Account) -> None:
    """It is never handed out, and every instance of the pool learns of it."""
    assert await take(roost, account, 1) == "233.252.0.2"
    await roost.store.execute(
        "update ip_pool set gateway = '233.252.0.4' where cidr = '233.252.0.0/29'"
    )
    try:
        (held,) = await held_by(roost.store, 1)
        assert str(held.gateway) == "233.252.0.4"
        assert not await take_back(roost.store, "233.252.0.4", account.id, 9)
        async with roost.store.transaction() as db:
            given = [await allocate(db, REGION, True, account.id, n) for n in (2, 3, 4)]
            with pytest.raises(PoolExhaustedError):
                await allocate(db, REGION, True, account.id, 5)
        assert [str(one.interface.ip) for one in given] == [f"233.252.0.{n}" for n in (3, 5, 6)]
        assert {str(one.gateway) for one in given} == {"233.252.0.4"}
    finally:
        await roost.store.execute("delete from ip_pool where region = $1", REGION)
        for compute_id in range(1, 5):
            await give_back(roost, compute_id)
