"""SQL of beta programs."""

from dataclasses import dataclass, replace
from datetime import datetime

from roost.core.lists import listing_of
from roost.resources.betas.records import BetaRow
from roost.store import Queries
from roost.store.paging import Listing
from roost.store.query import query

BETAS = listing_of(
    BetaRow,
    source="beta b",
    scope="not b.retired and (b.ended is null or b.ended > $1)",
    key="b.id",
)
"""Those that go on at the time $1, or will."""

ENROLLED = Listing(
    record="b.id, b.label, b.description, b.started, b.ended, e.enrolled",
    source="account_beta e join beta b on b.id = e.beta_id",
    scope="e.account_id = $1",
    key="(e.account_id, e.beta_id)",
    columns={},
)
ENROLLED_BY_ID = replace(ENROLLED, key="e.beta_id")


@dataclass(frozen=True, slots=True)
class Beta:
    started: datetime
    ended: datetime | None
    greenlight_only: bool


@query("select started, ended, greenlight_only from beta where id = $1 and not retired")
async def find(db: Queries, beta_id: str) -> Beta | None:
    """One that the catalogue has."""


@query("""
    insert into account_beta (account_id, beta_id, enrolled) values ($1, $2, $3)
    on conflict do nothing returning true
    """)
async def enroll(db: Queries, account_id: int, beta_id: str, now: datetime) -> bool:
    """False when the account takes part already."""
