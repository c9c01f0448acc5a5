"""A leap year of many accounts: every invoice is the model's to the cent, and the books balance."""

import os
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from roost.app.roost import Roost
from roost.core.account_queries import balance
from roost.core.billing import ledger
from roost.core.billing.charges import LedgerRow, next_month
from roost.core.billing.ledger import Billable, Billables
from roost.core.billing.metered import AllMetered
from roost.core.catalog import Catalog
from roost.core.catalog.entries import TaxEntry
from roost.ids import new_uuid
from roost.jobs.queue import JobQueue
from roost.resources.account.queries import create_account
from roost.resources.billing.service import differences, invoice_all
from roost.resources.payments import queries as payments
from roost.resources.payments.collect_service import collect
from roost.resources.payments.engine import Card, Gateways
from roost.resources.payments.queries import NewMethod
from roost.resources.payments.service import credit, record
from roost.resources.support.engine import SupportRules
from roost.secrets import Box
from roost.services import Services
from tests.support.billing_model import Books, Promise
from tests.support.client import until
from tests.support.payments import DECLINED, VISA

ACCOUNTS, THINGS = map(int, os.environ.get("ROOST_TEST_YEAR", "4,40").split(","))
START, END = datetime(2024, 1, 1), datetime(2025, 1, 1)
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
TAX = Decimal("0.19")
PLANS = {
    "year-a": [("0.0075", "5"), ("0.036", "24"), ("0.144", "96")],
    "year-b": [("0.00015", "0.1"), ("0.0003", "0.2")],
}
"""By service the prices of its plans, which are numbers; beside the real ones, which others use."""


def _billable(service: str) -> Billable:
    return Billable(service, service, f"select * from year_thing where service = '{service}'")


CHARGED = {service: _billable(service) for service in PLANS}


@dataclass
class Life:
    """One thing as it is now, in the model."""

    id: int
    service: str
    account_id: int
    last: LedgerRow | None = None


@dataclass
class Year:
    """What happens, to Roost and to the model alike."""

    roost: Roost
    services: Services
    dice: random.Random
    books: dict[int, Books] = field(default_factory=dict)
    declining: set[int] = field(default_factory=set)
    invoiced_until: datetime = START
    cents: int = 0
    invoices: int = 0
    paid: Decimal = Decimal(0)
    prices: dict[tuple[str, int], tuple[Decimal, Decimal]] = field(default_factory=dict)
    rows: int = 0

    async def begin(self) -> None:
        await self.roost.store.execute(
            """
            create table year_thing (
                id bigint primary key, account_id bigint, service text, label text, plan text,
                region text, quantity integer, hourly numeric, monthly numeric, tags text[])
            """
        )
        for service, plans in PLANS.items():
            for number, (hourly, monthly) in enumerate(plans):
                self.prices[service, number] = Decimal(hourly), Decimal(monthly)
        for number in range(ACCOUNTS):
            await self._account(number)

    async def forget(self) -> None:
        """Nobody invoices these accounts any more."""
        await self.roost.store.execute("drop table year_thing")
        sql = "update account set canceled = $2 where id = any($1)"
        await self.roost.store.execute(sql, list(self.books), END)

    async def _account(self, number: int) -> None:
        """Of every three one is in a country with a tax; of every four the card is declined."""
        store, dice = self.roost.store, self.dice
        account_id = await create_account(store, new_uuid(), START)
        taxed = number % 3 == 0
        country = "DE" if taxed else "US"
        await store.execute("update account set country = $2 where id = $1", account_id, country)
        self.books[account_id] = Books({"VAT": TAX} if taxed else {})
        if number % 4 == 1:
            self.declining.add(account_id)
        await self.card(account_id, DECLINED if account_id in self.declining else VISA)
        for code in range(dice.randrange(3)):
            service, cap = dice.choice(("all", *PLANS)), Decimal(dice.randrange(100, 900)) / 100
            created = START + dice.randrange(300) * DAY
            expires = dice.choice((None, created + dice.randrange(1, 200) * DAY))
            promised = Decimal(dice.randrange(900, 4000)) / 100
            found = await store.fetchval(
                """
                insert into promotion (account_id, code, summary, description, image_url,
                    service_type, credit, monthly_cap, created, expires)
                values ($1, $2, 'gift', '', '', $3, $4, $5, $6, $7) returning id
                """,
                *(account_id, str(code), service, promised, cap, created, expires),
            )
            promise = Promise(found, service, cap, created, expires, promised)
            self.books[account_id].promises.append(promise)

    async def card(self, account_id: int, number: str) -> None:
        gateway = self.roost.services.get(Gateways).gateway
        assert gateway is not None
        token = await gateway.store_card(Card(number, "123", 12, 2099))
        new = NewMethod(
            account_id=account_id,
            is_default=True,
            now=START,
            card_type="Visa",
            last_four=number[-4:],
            expiry=datetime(2099, 12, 1),
            token=self.roost.services.get(Box).seal(token.encode()),
        )
        async with self.roost.store.transaction() as db:
            await payments.clear_default(db, account_id)
            await payments.insert_method(db, new)

    def _note(self, life: Life, at: datetime, plan: int | None, quantity: int) -> None:
        """In the model: a row, unless nothing changed."""
        price = None if plan is None else self.prices[life.service, plan]
        last = life.last
        held = last is not None and last.hourly is not None
        if price is None and not held:
            return
        hourly, monthly = price or (None, None)
        now = (str(plan), quantity, hourly, monthly)
        if last is not None and now == (last.plan, last.quantity, last.hourly, last.monthly):
            return
        at = max(at, self.invoiced_until, last.at if last else at)
        self.rows += 1
        row = LedgerRow(
            *(self.rows, life.service, life.id, at, "x", str(plan), "r", quantity, hourly, monthly),
            [],
        )
        life.last = row
        self.books[life.account_id].rows.append(row)

    async def change(self, life: Life, at: datetime, plan: int | None, quantity: int) -> None:
        async with self.roost.store.transaction() as db:
            await db.execute("delete from year_thing where id = $1", life.id)
            if plan is not None:
                await db.execute(
                    "insert into year_thing values ($1, $2, $3, 'x', $4, 'r', $5, $6, $7, '{}')",
                    *(life.id, life.account_id, life.service, str(plan), quantity),
                    *self.prices[life.service, plan],
                )
            await ledger.record(db, CHARGED[life.service], life.id, at)
        self._note(life, at, plan, quantity)

    async def new_price(self, lives: list[Life], at: datetime, service: str, plan: int) -> None:
        hourly, monthly = self.prices[service, plan]
        self.prices[service, plan] = hourly * Decimal("1.25"), monthly * Decimal("1.25")
        async with self.roost.store.transaction() as db:
            await db.execute(
                """
                update year_thing set hourly = $3, monthly = $4 where service = $1 and plan = $2
                """,
                *(service, str(plan), *self.prices[service, plan]),
            )
            await ledger.record_all(db, CHARGED[service], at)
        for life in lives:
            last = life.last
            if life.service == service and last and last.hourly and last.plan == str(plan):
                self._note(life, at, plan, last.quantity)

    async def month_ends(self, start: datetime) -> None:
        end, store = next_month(start), self.roost.store
        await invoice_all(store, self.services, end)
        for account_id, books in self.books.items():
            expected = books.invoice(start, end)
            sql = "select id, subtotal, total from invoice where account_id = $1 and starts = $2"
            row = await store.fetchrow(sql, account_id, start)
            found = (row["subtotal"], row["total"]) if row else (Decimal(0), Decimal(0))
            assert found == expected, (account_id, start)
            if row is None:
                continue
            sums = "select sum(amount), sum(amount + tax) from invoice_item where invoice_id = $1"
            assert tuple(await store.fetchrow(sums, row["id"]) or ()) == found
            self.cents += int(row["total"] * 100)
            self.invoices += 1
        self.invoiced_until = end
        for later in (timedelta(minutes=85), 3 * DAY, 8 * DAY, 15 * DAY):
            await self.collect(end + later)

    async def collect(self, now: datetime) -> None:
        """Cards that are good pay all that is owed, the others nothing."""
        store = self.roost.store
        owed = {each: await balance(store, each) for each in self.books}
        await collect(store, self.services, now)
        pending = "select count(*) from payment where status = 'pending' and account_id = any($1)"
        await until(lambda: store.fetchval(pending, list(owed)), lambda count: count == 0)
        for account_id, before in owed.items():
            after = await balance(store, account_id)
            assert after == (before if account_id in self.declining else min(before, Decimal(0)))
            self.paid += before - after


@asynccontextmanager
async def by_hand(roost: Roost) -> AsyncIterator[None]:
    """No job invoices meanwhile, as those of the clock's would do it up to today."""
    names, store = ["invoices", "payments_collect"], roost.store
    ticked = """
        insert into job_schedule (name, ticked) select unnest($1::text[]), $2
        on conflict (name) do update set ticked = excluded.ticked
        """
    await store.execute(ticked, names, datetime(2100, 1, 1))
    rest = "select bool_and(finished is not null) from job where kind = any($1)"
    await until(lambda: store.fetchval(rest, names), bool)  # One is made as the worker starts.
    yield
    await store.execute(ticked, names, roost.clock.seconds())


@pytest.fixture
async def year(roost: Roost) -> AsyncIterator[Year]:
    catalog = roost.services.get(Catalog)
    taxes = [TaxEntry(name="VAT", country="DE", rate=str(TAX))]
    services = Services(
        Catalog(catalog.entries.model_copy(update={"taxes": taxes})),
        Billables(*CHARGED.values()),
        AllMetered(),
        SupportRules(None, 0),
        roost.services.get(Gateways),
        roost.services.get(JobQueue),
    )
    async with by_hand(roost):
        year = Year(roost, services, random.Random(2024))
        await year.begin()
        yield year
        await year.forget()


def _plan(year: Year) -> tuple[list[Life], list[tuple[datetime, int]]]:
    """Things, and when something happens to which of them; -1: a price changes."""
    dice, accounts = year.dice, list(year.books)
    lives = [
        Life(year.invoices + 10**9 + n, dice.choice(list(PLANS)), dice.choice(accounts))
        for n in range(THINGS)
    ]
    happens = list[tuple[datetime, int]]()
    for number in range(THINGS):
        at = START + dice.randrange(300 * 24 * 60) * MINUTE
        for _ in range(dice.randrange(1, 9)):
            happens.append((at, number))
            at += dice.choice([1, 59, 60, 61, 3000, 40_000, 90_000]) * MINUTE
    happens += [(START + day * DAY + 17 * MINUTE, -1) for day in (40, 59, 181, 300)]
    happens += [(datetime(2024, 2, 29, 23, 59), n) for n in range(0, THINGS, 7)]
    return lives, sorted(each for each in happens if each[0] < END)


async def test_a_virtual_year(
    year: Year, record_testsuite_property: Callable[[str, str], None]
) -> None:
    dice, store = year.dice, year.roost.store
    lives, happens = _plan(year)
    month, given = START, Decimal(0)
    for at, number in happens:
        while at >= next_month(month):
            await year.month_ends(month)
            month = next_month(month)
            account_id = dice.choice(list(year.books))
            usd = Decimal(dice.randrange(1, 500)) / 100
            async with store.transaction() as db:
                await credit(db, account_id, usd, "outage", None, at)
            given += usd
            if month.month == 7 and year.declining:
                better = year.declining.pop()
                await year.card(better, VISA)
        if dice.random() < 0.03:
            at -= 20 * DAY  # The clock was put back, maybe into a month that is invoiced.
        if number < 0:
            await year.new_price(lives, at, dice.choice(list(PLANS)), 0)
            continue
        life = lives[number]
        gone = life.last is not None and life.last.hourly is not None and dice.random() < 0.3
        plan = None if gone else dice.randrange(len(PLANS[life.service]))
        await year.change(life, at, plan, dice.choice((1, 1, 20)))
    while month < END:
        await year.month_ends(month)
        month = next_month(month)
    await _settle(year, given)
    mine = [f"account {account_id}" for account_id in year.books]
    found = [text async for text in differences(store)]
    assert not [text for text in found if any(name in text for name in mine)]
    record_testsuite_property(
        "year",
        f"{ACCOUNTS} accounts with {THINGS} things: {year.rows} rows, {year.invoices} invoices",
    )
    record_testsuite_property(
        "books",
        f"{year.cents} cents compared, ${year.paid} paid by card, ${given} given as credits",
    )
    assert year.cents > 10_000


async def _settle(year: Year, given: Decimal) -> None:
    """What is not paid is what was invoiced, less what was; with that paid, all is zero."""
    store = year.roost.store
    owed = {each: await balance(store, each) for each in year.books}
    assert sum(owed.values()) == Decimal(year.cents) / 100 - year.paid - given
    for account_id, usd in owed.items():
        async with store.transaction() as db:
            if usd > 0:
                await record(db, account_id, usd, END)
            elif usd < 0:
                await credit(db, account_id, usd, "paid back", None, END)
    sql = "select coalesce(sum(amount), 0) from posting where account_id = $1"
    for account_id in owed:
        assert await balance(store, account_id) == 0
        assert await store.fetchval(sql, account_id) == 0
