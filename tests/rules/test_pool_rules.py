"""How much an account may send in a month."""

from datetime import datetime, timedelta
from decimal import Decimal

from roost.core.billing.charges import LedgerRow
from roost.resources.usage.pool_rules import SHARED, Pool, pools

APRIL = (datetime(2028, 4, 1), datetime(2028, 5, 1))
DAY = timedelta(days=1)
GB = 10**9
PLANS = {"small": 300, "large": 3000}


def row(
    number: int, compute_id: int, day: int, plan: str | None, region: str = "us-lake"
) -> LedgerRow:
    at = APRIL[0] + day * DAY
    price = None if plan is None else Decimal(1)
    return LedgerRow(
        number, "compute", compute_id, at, "a", plan or "", region, 1, price, price, []
    )


def test_a_plan_gives_its_share_of_the_month() -> None:
    rows = [row(1, 7, -40, "small"), row(2, 8, 15, "small"), row(3, 9, 10, "small")]
    rows.append(row(4, 9, 20, None))
    assert pools(rows, {}, PLANS, (), APRIL) == {SHARED: Pool(300 + 150 + 100, 0)}


def test_another_plan_gives_another_share_from_then_on() -> None:
    rows = [row(1, 7, 0, "small"), row(2, 7, 15, "large")]
    assert pools(rows, {"us-lake": 2 * GB - 1}, PLANS, (), APRIL) == {SHARED: Pool(150 + 1500, 1)}


def test_a_region_with_its_own_pool() -> None:
    rows = [row(1, 7, 0, "small"), row(2, 8, 0, "large", "br-south")]
    sent = {"us-lake": 301 * GB, "br-south": 3 * GB, "": GB}
    found = pools(rows, sent, PLANS, ("br-south",), APRIL)
    assert found == {SHARED: Pool(300, 302), "br-south": Pool(3000, 3)}
    assert (found[SHARED].billable, found["br-south"].billable) == (2, 0)


def test_an_instance_that_moves_between_pools() -> None:
    """Each has its share of the plan, and what was sent from there."""
    rows = [row(1, 7, 0, "small", "br-south"), row(2, 7, 20, "small")]
    found = pools(rows, {"br-south": 250 * GB, "us-lake": GB}, PLANS, ("br-south",), APRIL)
    assert found == {SHARED: Pool(100, 1), "br-south": Pool(200, 250)}
    assert (found[SHARED].billable, found["br-south"].billable) == (0, 50)


def test_object_storage_is_part_of_the_shared_one() -> None:
    found = pools([], {"us-lake": GB // 2}, PLANS, (), APRIL, (1000, GB // 2))
    assert found == {SHARED: Pool(1000, 1)}
