"""SQL of clusters and buckets."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from asyncpg import Record

from roost.core.billing import ledger
from roost.core.billing.ledger import Billable
from roost.core.billing.ledger_queries import price_sql
from roost.core.entities.kind import EntityKind
from roost.core.lists import listing_of
from roost.resources.object_storage.engine import Acl, BucketSpec, ObjectAcl
from roost.resources.object_storage.records import BucketRow, ClusterRow
from roost.store import Queries
from roost.store.query import query
from roost.store.statement import Statement

_ID_DIGITS = 19
"""That a bigint cannot have."""

CLUSTERS = listing_of(
    ClusterRow,
    source="object_cluster c",
    scope="not c.retired",
    key="c.id",
    sql={
        "status": """
            case when (select r.status from region r where r.id = c.region) = 'ok'
                then 'available' else 'unavailable' end
            """,
        "static_site_domain": "'website-' || c.domain",
    },
)
EVERY_CLUSTER = replace(CLUSTERS, scope="true")
"""With those that the catalogue no longer has: their buckets still name them."""

BUCKETS = listing_of(
    BucketRow,
    source="object_bucket b",
    scope="b.account_id = $1 and not b.deleting",
    key="b.id",
)
BUCKETS_OF_CLUSTER = BUCKETS.narrowed("b.cluster = $2")
BUCKET_OF_CLUSTER = replace(BUCKETS_OF_CLUSTER, key="b.label")

BUCKET = EntityKind(name="bucket", path="/object-storage/buckets/{id}/{label}")
"""Its id is that of its cluster, as labels are unique there."""


@dataclass(frozen=True, slots=True)
class BucketFacts:
    """What jobs and rules need of a row."""

    id: int
    account_id: int
    cluster: str
    region: str
    engine: str
    label: str
    mark: str
    """Which row this is, among all that ever had its label."""
    acl: Acl
    cors_enabled: bool
    objects: int
    revision: int
    applied: int
    deleting: bool
    purging: bool

    @property
    def pending(self) -> bool:
        """Whether the engine has something else than the row says."""
        return self.deleting or self.applied < self.revision

    @property
    def name(self) -> str:
        """As the engine knows it."""
        return self.label

    def spec(self, acls: dict[str, ObjectAcl], listed_by: tuple[str, ...] = ()) -> BucketSpec:
        return BucketSpec(
            *(self.name, self.mark, self.acl, self.cors_enabled, acls, listed_by),
            is_new=self.applied == 0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBucket:
    """A row to insert."""

    account_id: int
    cluster: str
    region: str
    engine: str
    label: str
    hostname: str
    acl: Acl
    cors_enabled: bool
    now: datetime


_MARK = "id || '-' || to_char(created, 'YYYYMMDDHH24MISS')"
"""Ids alone come again when the database is a restored one."""

FACTS = f"""
    select id, account_id, cluster, region, engine, label, {_MARK} as mark, acl, cors_enabled,
        objects, revision, applied, deleting, purging
    from object_bucket
    """

_INSERT = Statement(f"""
    insert into object_bucket as b (account_id, cluster, region, engine, label, hostname, acl,
        cors_enabled, created)
    values (:account_id, :cluster, :region, :engine, :label, :hostname, :acl, :cors_enabled, :now)
    on conflict (cluster, label) do nothing
    returning b.id, {BUCKETS.record_text} as record
    """)


async def insert(db: Queries, new: NewBucket) -> tuple[int, str] | None:
    """The bucket's id and record; None when the cluster has one of this label."""
    row = await db.fetchrow(*_INSERT.of(new))
    return None if row is None else (row["id"], row["record"])


async def find(db: Queries, bucket_id: int) -> BucketFacts | None:
    """A bucket of any account, for Roost's own work, also one that is being deleted."""
    return _facts(await db.fetchrow(f"{FACTS} where id = $1", bucket_id))


async def find_taken(db: Queries, cluster: str, label: str) -> BucketFacts | None:
    """Whoever has it."""
    sql = f"{FACTS} where cluster = $1 and label = $2"
    return _facts(await db.fetchrow(sql, cluster, label))


async def find_own(db: Queries, account_id: int, cluster: str, label: str) -> BucketFacts | None:
    """A bucket that the account has."""
    sql = f"{FACTS} where account_id = $1 and cluster = $2 and label = $3 and not deleting"
    return _facts(await db.fetchrow(sql, account_id, cluster, label))


async def lock(db: Queries, account_id: int, cluster: str, label: str) -> BucketFacts | None:
    """A bucket of the account, which nobody else changes until the end of the transaction."""
    sql = f"""
        {FACTS} where account_id = $1 and cluster = $2 and label = $3 and not deleting
        for no key update
        """
    return _facts(await db.fetchrow(sql, account_id, cluster, label))


async def lock_in(db: Queries, region: str, label: str) -> BucketFacts | None:
    """A bucket of any account by its region, which nobody else changes meanwhile."""
    sql = f"{FACTS} where region = $1 and label = $2 for no key update"
    return _facts(await db.fetchrow(sql, region, label))


async def find_in(db: Queries, region: str, label: str) -> BucketFacts | None:
    """A bucket of any account by its region, also one that is being deleted."""
    sql = f"{FACTS} where region = $1 and label = $2"
    return _facts(await db.fetchrow(sql, region, label))


@query(f"select label, {_MARK} as mark from object_bucket where region = $1 and label = any($2)")
async def marks(db: Queries, region: str, labels: Collection[str]) -> dict[str, str]:
    """Marks of the region's buckets that have one of the labels, by label."""


@query("select id from object_bucket where region = $1 and label = any($2) and applied > 0")
async def applied_in(db: Queries, region: str, labels: Collection[str]) -> list[int]:
    """Ids of the region's buckets that have one of the labels and are on the server."""


async def is_over(db: Queries, mark: str) -> bool:
    """Whether there was a bucket with the mark, as far as this database can know, and is none."""
    number, _, created = mark.partition("-")
    if not (number.isdecimal() and created.isdecimal() and len(number) < _ID_DIGITS):
        return False
    found: bool = await db.fetchval(
        """
        select not exists (select from object_bucket where id = $1)
            and $1 <= (select last_value from object_bucket_id_seq)
        """,
        int(number),
    )
    return found


async def in_region(db: Queries, region: str, after: str, limit: int) -> list[BucketFacts]:
    """The next ones of all accounts by label."""
    sql = (
        f'{FACTS} where region = $1 and label > $2 collate "C" order by label collate "C" limit $3'
    )
    return [BucketFacts(**row) for row in await db.fetch(sql, region, after, limit)]


@query(f"{FACTS} where account_id = $1 order by id")
async def of_account(db: Queries, account_id: int) -> list[BucketFacts]:
    """All of an account, also those that are being deleted, by id."""


async def lock_all(db: Queries, account_id: int) -> list[BucketFacts]:
    """All that the account sees, which nobody else changes until the end of the transaction."""
    sql = f"{FACTS} where account_id = $1 and not deleting order by id for no key update"
    return [BucketFacts(**row) for row in await db.fetch(sql, account_id)]


@query(f"select {BUCKETS.record_text} from {BUCKETS.source} where b.id = $1")
async def record(db: Queries, bucket_id: int) -> str:
    """As the API shows it."""


async def pending(db: Queries, limit: int) -> list[BucketFacts]:
    """Some of which the engine has something else than the row says."""
    sql = f"{FACTS} where deleting or applied < revision order by id limit $1"
    return [BucketFacts(**row) for row in await db.fetch(sql, limit)]


@query("""
    select not exists (select from object_bucket
            where account_id = $1 and (deleting or applied < revision))
        and not exists (select from object_key
            where account_id = $1 and (deleting or applied < revision))
    """)
async def is_at_rest(db: Queries, account_id: int) -> bool:
    """Whether servers have all buckets and keys of the account as their rows say."""


async def engines_in_use(db: Queries) -> list[tuple[str, str]]:
    """Regions and the names of the engines that hold buckets of theirs."""
    rows = await db.fetch("select distinct region, engine from object_bucket order by 1, 2")
    return [(row["region"], row["engine"]) for row in rows]


async def labels(db: Queries, account_id: int, paths: Collection[str]) -> dict[str, int]:
    """Ids of the account's buckets by `<cluster>/<label>`."""
    rows = await db.fetch(
        """
        select id, cluster || '/' || label as path from object_bucket
        where account_id = $1 and not deleting and cluster || '/' || label = any($2)
        """,
        account_id,
        list(paths),
    )
    return {row["path"]: row["id"] for row in rows}


@query("""
    update object_bucket set acl = $2, cors_enabled = $3, revision = revision + 1
    where id = $1
    """)
async def set_access(db: Queries, bucket_id: int, acl: Acl, cors_enabled: bool) -> None: ...


async def set_deleting(db: Queries, bucket_id: int, now: datetime, *, deleting: bool) -> None:
    """From now on nobody sees it and it costs nothing, or both is as before."""
    await db.execute(
        "update object_bucket set deleting = $2, revision = revision + 1 where id = $1",
        bucket_id,
        deleting,
    )
    await ledger.record(db, CHARGED, bucket_id, now)


async def set_purging(db: Queries, bucket_id: int, now: datetime) -> None:
    """Mark a bucket as deleted for good: it goes with all that it holds."""
    await db.execute(
        "update object_bucket set deleting = true, purging = true where id = $1", bucket_id
    )
    await ledger.record(db, CHARGED, bucket_id, now)


@query("update object_bucket set applied = $2 where id = $1")
async def set_applied(db: Queries, bucket_id: int, revision: int) -> None:
    """The engine has it as it was then."""


@query("delete from object_bucket where id = $1 and applied = 0")
async def drop_refused(db: Queries, bucket_id: int) -> None:
    """Drop the row of one that its server never had."""


@query("delete from object_bucket where id = $1 and deleting")
async def forget(db: Queries, bucket_id: int) -> None:
    """Drop the row of a deleted one; its label is free."""


@query("select euuid::text from account where id = $1")
async def owner(db: Queries, account_id: int) -> str:
    """The account as S3 names it."""


def _facts(row: Record | None) -> BucketFacts | None:
    return None if row is None else BucketFacts(**row)


CHARGED = Billable(
    "objectstorage",
    "Bucket",
    f"""
    select b.id, b.account_id, b.label, '' as plan, b.region,
        least(b.size / 1000000000, 2147483647)::integer as quantity,
        {price_sql("p.price", "p.region_prices", "b.region")}, '{{}}'::text[] as tags
    from object_bucket b join unit_price p on p.service = 'objectstorage'
    where b.size >= 1000000000 and not b.deleting and not b.purging
    """,
)
"""Whole GB of what a bucket holds."""


HELD = """
    select account_id::text as id, account_id, bool_and(ending) as waits
    from (select account_id, purging as ending from object_bucket
        union all select account_id, deleting from object_key) o
    group by account_id
    """
"""What ends with accounts: all buckets and keys of one at once."""


@query("select object_storage = 'active' from account where id = $1")
async def has_object_storage(db: Queries, account_id: int) -> bool: ...


@query("""
    update account set object_storage = $2 where id = $1 and object_storage <> $2
    returning true
    """)
async def set_object_storage(
    db: Queries, account_id: int, state: Literal["disabled", "active"]
) -> bool:
    """Whether it was another one before."""
