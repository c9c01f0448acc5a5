"""SQL of promo codes, and of promotions as they begin."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from roost.store import Queries
from roost.store.query import query
from roost.store.statement import Statement, inserted, selected


@dataclass(frozen=True, slots=True, kw_only=True)
class PromoCode:
    """What a code promises; amounts in US dollars, times in UTC."""

    code: str
    summary: str
    description: str
    image_url: str
    service_type: str
    credit: Decimal
    monthly_cap: Decimal
    days: int | None
    """How long its promotions last; None: for ever."""
    ends: datetime | None
    """Until when it can be redeemed."""
    uses_left: int | None
    created: datetime


@dataclass(frozen=True, slots=True)
class ListedCode(PromoCode):
    """With what became of it."""

    redeemed: int
    """By how many accounts."""


_COLUMNS = selected(PromoCode)

_INSERT = Statement(f"""
    insert into promo_code {inserted(PromoCode)}
    on conflict do nothing returning true
""")


async def insert_code(db: Queries, new: PromoCode) -> bool:
    """False when there is one of this name."""
    return await db.fetchval(*_INSERT.of(new)) is not None


@query(f"select {_COLUMNS} from promo_code c where code = $1 for update")  # noqa: S608
async def lock_code(db: Queries, code: str) -> PromoCode | None:
    """Which nobody else redeems until the end of the transaction."""


@query("update promo_code set uses_left = uses_left - 1 where code = $1")
async def count_use(db: Queries, code: str) -> None: ...


@query(f"""
    select {_COLUMNS}, (select count(*) from promotion p where p.code = c.code) as redeemed
    from promo_code c order by c.created desc, c.code
    """)  # noqa: S608
async def list_codes(db: Queries) -> list[ListedCode]:
    """The newest first."""


@query("""
    insert into promotion (account_id, code, summary, description, image_url, service_type,
        credit, monthly_cap, created, expires)
    select $1, code, summary, description, image_url, service_type, credit, monthly_cap, $3, $4
    from promo_code where code = $2
    on conflict do nothing returning true
    """)
async def insert_promotion(
    db: Queries, account_id: int, code: str, now: datetime, expires: datetime | None
) -> bool:
    """Promise an account what the code says (UTC); False when it was promised that before."""


@query("delete from promo_code where code = $1 returning true")
async def delete_code(db: Queries, code: str) -> bool:
    """Nobody redeems it any more; what it has promised holds. False when there is none."""
