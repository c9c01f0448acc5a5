"""SQL of keys."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from asyncpg import Record

from roost.core.entities.kind import EntityKind
from roost.core.lists import listing_of
from roost.resources.object_storage.engine import BucketGrant, KeySpec
from roost.resources.object_storage.records import KeyRow, Permissions
from roost.secrets import Box
from roost.store import Queries
from roost.store.query import query
from roost.store.statement import Statement

KEYS = listing_of(
    KeyRow,
    source="object_key k",
    scope="k.account_id = $1 and not k.deleting",
    key="k.id",
    sql={
        "secret_key": "'[REDACTED]'",
        "bucket_access": """
            case when k.limited then (
                select coalesce(json_agg(a order by a.cluster, a.bucket_name), '[]') from (
                    select b.cluster, b.label as bucket_name, g.permissions
                    from object_key_access g join object_bucket b on b.id = g.bucket_id
                    where g.key_id = k.id and not b.deleting) a) end
            """,
    },
)

KEY = EntityKind(name="object_storage_key", path="/object-storage/keys/{id}")


@dataclass(frozen=True, slots=True)
class KeyFacts:
    """What jobs and rules need of a row."""

    id: int
    account_id: int
    label: str
    access_key: str
    secret_key: bytes
    """Sealed."""
    limited: bool
    revision: int
    applied: int
    deleting: bool
    barred: bool
    """Whether S3 clients make no buckets with it for now."""

    @property
    def name(self) -> str:
        """By which engines know it."""
        return name_of(self.id)

    @property
    def pending(self) -> bool:
        """Whether an engine has something else than the row says."""
        return self.deleting or self.applied < self.revision

    def spec(
        self, box: Box, grants: tuple[BucketGrant, ...], lists: tuple[str, ...] = ()
    ) -> KeySpec:
        secret = box.open(self.secret_key).decode()
        may_make, unlimited = not self.barred, not self.limited
        return KeySpec(self.name, self.access_key, secret, grants, lists, may_make, unlimited)


_NAME = "key-"


def name_of(key_id: int) -> str:
    """By which engines know a key."""
    return f"{_NAME}{key_id}"


def id_of(name: str) -> int | None:
    """The id of a key, by the name that engines know."""
    number = name.removeprefix(_NAME)
    return int(number) if name.startswith(_NAME) and number.isdecimal() else None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A row to insert."""

    account_id: int
    label: str
    access_key: str
    secret_key: bytes
    limited: bool
    now: datetime


_FACTS = """
    select id, account_id, label, access_key, secret_key, limited, revision, applied, deleting,
        barred
    from object_key
    """

_INSERT = Statement("""
    insert into object_key (account_id, label, access_key, secret_key, limited, created)
    values (:account_id, :label, :access_key, :secret_key, :limited, :now) returning id
    """)


async def insert(db: Queries, new: NewKey, access: Mapping[int, Permissions]) -> int:
    """The key's id; `access` says what it may do with which buckets."""
    key_id: int = await db.fetchval(*_INSERT.of(new))
    await db.execute(
        """
        insert into object_key_access (key_id, bucket_id, permissions)
        select $1, * from unnest($2::bigint[], $3::text[])
        """,
        key_id,
        list(access),
        list(access.values()),
    )
    return key_id


async def find(db: Queries, key_id: int) -> KeyFacts | None:
    """A key of any account, for Roost's own work, also one that is being deleted."""
    return _facts(await db.fetchrow(f"{_FACTS} where id = $1", key_id))


async def lock(db: Queries, account_id: int, key_id: int) -> KeyFacts | None:
    """One of the account's, which nobody else changes until the end of the transaction."""
    sql = f"{_FACTS} where account_id = $1 and id = $2 and not deleting for no key update"
    return _facts(await db.fetchrow(sql, account_id, key_id))


async def lock_any(db: Queries, key_id: int) -> KeyFacts | None:
    """A key of any account, also one that is being deleted, which nobody else changes."""
    return _facts(await db.fetchrow(f"{_FACTS} where id = $1 for no key update", key_id))


@query(f"{_FACTS} where account_id = $1 order by id")
async def of_account(db: Queries, account_id: int) -> list[KeyFacts]:
    """All of an account, also those that are being deleted, by id."""


async def lock_all(db: Queries, account_id: int) -> list[KeyFacts]:
    """All that the account sees, which nobody else changes until the end of the transaction."""
    sql = f"{_FACTS} where account_id = $1 and not deleting order by id for no key update"
    return [KeyFacts(**row) for row in await db.fetch(sql, account_id)]


@query(f"""
    {_FACTS} k where id > $3 and (deleting or applied < revision or $2 or exists (
        select from object_bucket b
        where b.account_id = k.account_id and b.region = $1 and not b.deleting))
    order by id limit $4
    """)
async def wanted_in(
    db: Queries, region: str, everywhere: bool, after: int, limit: int
) -> list[KeyFacts]:
    """The next keys of accounts that have buckets in the region, and those that are late, by id; of
    all accounts where keys are `everywhere`."""


@query("""
    select exists (
        select from object_bucket where account_id = $2 and region = $1 and not deleting)
    """)
async def is_wanted_in(db: Queries, region: str, account_id: int) -> bool:
    """Whether the account has a bucket there."""


@query("select exists (select from object_key where access_key = $1 and not deleting)")
async def is_known(db: Queries, access_key: str) -> bool:
    """Whether any account has a key with it."""


@query("select id from object_key where not deleting")
async def ids(db: Queries) -> list[int]:
    """The ids of all keys that accounts see."""


@query("""
    select o.id from unnest($1::bigint[]) o (id)
    where o.id <= (select last_value from object_key_id_seq)
        and not exists (select from object_key k where k.id = o.id)
    """)
async def over(db: Queries, ids: Collection[int]) -> list[int]:
    """Those that were given to keys which are no more."""


async def pending(db: Queries, limit: int) -> list[KeyFacts]:
    """Some of which an engine has something else than the row says."""
    sql = f"{_FACTS} where deleting or applied < revision order by id limit $1"
    return [KeyFacts(**row) for row in await db.fetch(sql, limit)]


async def grants(db: Queries, key: KeyFacts, region: str) -> tuple[BucketGrant, ...]:
    """What a key may do in a region."""
    rows = await db.fetch(
        """
        select b.label, $3 or g.permissions = 'read_write' as writes
        from object_bucket b
        left join object_key_access g on g.bucket_id = b.id and g.key_id = $1
        where b.account_id = $2 and b.region = $4 and not b.deleting
            and ($3 or g.key_id is not null)
        order by b.label
        """,
        key.id,
        key.account_id,
        not key.limited,
        region,
    )
    return tuple(BucketGrant(row["label"], row["writes"]) for row in rows)


async def lists(db: Queries, key: KeyFacts, region: str) -> tuple[str, ...]:
    """Buckets of a region that a limited key lists without having access to them (rule 8)."""
    rows = await db.fetch(
        """
        select b.label from object_bucket b
        where b.account_id = $2 and b.region = $3 and not b.deleting and $4 and not exists (
            select from object_key_access g where g.bucket_id = b.id and g.key_id = $1)
        order by b.label
        """,
        key.id,
        key.account_id,
        region,
        key.limited,
    )
    return tuple(row["label"] for row in rows)


async def without_access(db: Queries, bucket_id: int) -> tuple[str, ...]:
    """The names of keys of the bucket's account that do no more with it than to list it."""
    rows = await db.fetch(
        """
        select k.id from object_bucket b join object_key k on k.account_id = b.account_id
        where b.id = $1 and k.limited and not k.deleting and not exists (
            select from object_key_access g where g.bucket_id = b.id and g.key_id = k.id)
        order by k.id
        """,
        bucket_id,
    )
    return tuple(name_of(row["id"]) for row in rows)


@query("update object_key set barred = true where account_id = $1")
async def set_barred(db: Queries, account_id: int) -> None:
    """S3 clients of the account make no buckets until `unbar`."""


@query("""
    update object_key set barred = false, revision = revision + 1 where id in (
        select id from object_key where barred limit $1)
    """)
async def unbar(db: Queries, limit: int) -> None:
    """Let all do so again, which jobs have to bring."""


@query("update object_key set label = $2 where id = $1")
async def rename(db: Queries, key_id: int, label: str) -> None: ...


@query("update object_key set deleting = true, revision = revision + 1 where id = $1")
async def set_deleting(db: Queries, key_id: int) -> None:
    """From now on nobody sees it."""


@query("update object_key set applied = $2 where id = $1")
async def set_applied(db: Queries, key_id: int, revision: int) -> None:
    """All engines have it as it was then."""


@query("delete from object_key where id = $1 and deleting")
async def forget(db: Queries, key_id: int) -> None:
    """Drop the row of a deleted one."""


def _facts(row: Record | None) -> KeyFacts | None:
    return None if row is None else KeyFacts(**row)
