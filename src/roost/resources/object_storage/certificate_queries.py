"""SQL of the certificates of buckets."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from roost.store import Queries
from roost.store.query import query


@dataclass(frozen=True, slots=True)
class Named:
    """A bucket of an account, as far as its certificate is concerned."""

    id: int
    hostname: str
    has_certificate: bool


@query("""
    select b.id, b.hostname, c.bucket_id is not null as has_certificate
    from object_bucket b left join object_certificate c on c.bucket_id = b.id
    where b.account_id = $1 and b.cluster = $2 and b.label = $3 and not b.deleting
    """)
async def find(db: Queries, account_id: int, cluster: str, label: str) -> Named | None: ...


async def insert(
    db: Queries, bucket_id: int, certificate: str, private_key: bytes, now: datetime
) -> bool:
    """False when there is one already. The key is sealed."""
    done = await db.fetchval(
        """
        insert into object_certificate (bucket_id, certificate, private_key, created)
        values ($1, $2, $3, $4) on conflict (bucket_id) do nothing returning bucket_id
        """,
        bucket_id,
        certificate,
        private_key,
        now,
    )
    return done is not None


async def delete(db: Queries, bucket_id: int) -> bool:
    """Whether there was one."""
    done = await db.fetchval(
        "delete from object_certificate where bucket_id = $1 returning bucket_id", bucket_id
    )
    return done is not None


@dataclass(frozen=True, slots=True)
class Served:
    """What is shown to clients that call a bucket by its name."""

    id: int
    """Of the certificate; another one after each upload."""
    region: str
    certificate: str
    private_key: bytes


async def version(db: Queries) -> tuple[int, int]:
    """Another one after each change of all that are served."""
    row = await db.fetchrow(
        "select count(*) as count, coalesce(max(id), 0) as last from object_certificate"
    )
    assert row is not None
    return row["count"], row["last"]


async def served(db: Queries) -> dict[str, Served]:
    """All, by the names of their buckets."""
    rows = await db.fetch(
        """
        select b.hostname, c.id, b.region, c.certificate, c.private_key
        from object_certificate c join object_bucket b on b.id = c.bucket_id
        where not b.deleting
        """
    )
    return {
        row["hostname"]: Served(row["id"], row["region"], row["certificate"], row["private_key"])
        for row in rows
    }


@query("select id, certificate from object_certificate where expires is null order by id limit $1")
async def unread(db: Queries, limit: int) -> dict[int, str]:
    """Certificates of which nobody knows yet when they expire, by id."""


async def set_expires(db: Queries, ends: Mapping[int, datetime]) -> None:
    await db.execute(
        """
        update object_certificate c set expires = e.expires
        from unnest($1::bigint[], $2::timestamp[]) as e (id, expires) where c.id = e.id
        """,
        list(ends),
        list(ends.values()),
    )


async def expired(db: Queries, now: datetime, limit: int) -> list[tuple[str, datetime]]:
    """Names of buckets whose certificates have expired, and when; the first first."""
    rows = await db.fetch(
        """
        select b.hostname, c.expires
        from object_certificate c join object_bucket b on b.id = c.bucket_id
        where c.expires <= $1 and not b.deleting order by c.expires, c.id limit $2
        """,
        now,
        limit,
    )
    return [(row["hostname"], row["expires"]) for row in rows]
