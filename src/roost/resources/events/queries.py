"""SQL of events as users see them, and of forgetting them."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache

from roost.core.lists import listing_of
from roost.resources.events.records import EventRow
from roost.store import Queries
from roost.store.paging import Column, Listing
from roost.store.query import query

KEPT = timedelta(days=90)
"""How long events are shown (spec B events window)."""

_OF_DISKS = """(
    'disk_create', 'disk_delete', 'disk_update', 'disk_duplicate', 'disk_imagize', 'disk_resize')"""
"""Their entity is the instance, and clients look for them by the type `disks` too."""

EVENTS = listing_of(
    EventRow,
    source="event e",
    scope="e.account_id = $1 and e.created > $2",
    key="e.id",
    descending=True,
    sql={
        "duration": "round(extract(epoch from e.ended - e.started), 3)",
        "rate": "round(e.rate, 2) || ' MB/s'",
        "time_remaining": """
            case when e.status = 'started' and e.expected is not null then to_char(
                greatest(e.expected - ($2::timestamp + interval '90 days'), interval '0'),
                'FMHH24:MI:SS') end
            """,
    },
    columns={
        "entity.id": Column("e.entity_id", "id"),
        "entity.type": Column("e.entity_type", "text", means=("disks", f"e.action in {_OF_DISKS}")),
    },
)
"""`seen` is filterable beside the reference's list, as clients of the Cloud UI filter on it."""


def _granted(kind: str, entity_id: str) -> str:
    """SQL of whether the user $3 has a grant on what an event names."""
    return f"""
        exists (select from entity_grant g where g.user_id = $3 and g.kind = {kind}
            and g.entity_id = substring({entity_id} from '^(?:private/)?([0-9]{{1,18}})$')::bigint)
        """


SEEN_BY_RESTRICTED = replace(
    EVENTS,
    scope=f"""
        {EVENTS.scope} and (e.user_id = $3
            or {_granted("e.entity_type", "e.entity_id")}
            or e.entity_type <> all($4::text[]) and ($5
                or {_granted("e.secondary_entity ->> 'type'", "e.secondary_entity ->> 'id'")}))
        """,
)
"""What the user $3 did, what happened to entities that are granted to them, and what is about
none of the kinds on which grants are given ($4): to users who may look at the account ($5), and
what belongs to a granted entity, as an address does to its instance."""


_NUMBER = "substring({} from '^(?:private/)?([0-9]{{1,18}})$')::bigint"


def among(visible: "Visible", left: Mapping[str, str], arguments: Sequence[object]) -> "Visible":
    """What is left of it to a token that may name some entities alone: events about one of them,
    and about nothing else than one of them or a public image. `left`: SQL of their ids by kinds."""
    return Visible(_left_of(visible.listing, tuple(left.items())), tuple(arguments))


@lru_cache(64)
def _left_of(listing: Listing, left: tuple[tuple[str, str], ...]) -> Listing:
    """One for all tokens that are narrowed alike, as statements are remembered by their listing."""

    def is_left(kind: str, entity_id: str) -> str:
        number = _NUMBER.format(entity_id)
        found = (f"{kind} = '{name}' and {number} in ({ids})" for name, ids in left)
        return " or ".join(found) or "false"

    other = "e.secondary_entity ->> 'type'", "e.secondary_entity ->> 'id'"
    scope = f"""
        ({listing.scope}) and ({is_left("e.entity_type", "e.entity_id")})
        and (e.secondary_entity is null or {is_left(*other)}
            or {other[0]} = 'image' and {other[1]} !~ '^private/')
        """
    return replace(listing, scope=scope)


@dataclass(frozen=True, slots=True)
class Visible:
    """The events that somebody sees."""

    listing: Listing
    arguments: tuple[object, ...]


@query("update event set read = true where id = $1 and not read")
async def mark_read(db: Queries, event_id: int) -> None: ...


async def mark_seen(db: Queries, visible: Visible, event_id: int) -> None:
    """This event and all before it (spec B account events seen), of those that somebody sees."""
    scope, position = visible.listing.scope, len(visible.arguments) + 1
    await db.execute(
        f"update event e set seen = true where {scope} and e.id <= ${position} and not e.seen",
        *visible.arguments,
        event_id,
    )


@query("""
    with old as (
        delete from event where id in (
            select id from event where created <= $1 order by id limit $2)
        returning id)
    select count(*) from old
    """)
async def delete_old(db: Queries, before: datetime, limit: int) -> int:
    """At most `limit` events of all accounts; how many it were."""
