"""SQL of the ACLs that objects have for themselves."""

from collections.abc import Collection

from roost.resources.object_storage.engine import Acl, ObjectAcl
from roost.resources.object_storage.queries import FACTS, BucketFacts
from roost.store import Queries
from roost.store.query import query


async def acls(db: Queries, bucket_id: int) -> dict[str, ObjectAcl]:
    """ACLs of objects that have one of their own, by name."""
    sql = "select name, acl, given::text from object_acl where bucket_id = $1 order by name"
    rows = await db.fetch(sql, bucket_id)
    return {row["name"]: ObjectAcl(row["acl"], row["given"]) for row in rows}


async def with_acls(db: Queries, region: str) -> list[BucketFacts]:
    """Buckets that have objects with an ACL of their own."""
    sql = f"""
        {FACTS} where region = $1 and exists (select from object_acl where bucket_id = id)
        order by id
        """
    return [BucketFacts(**row) for row in await db.fetch(sql, region)]


@query("delete from object_acl where bucket_id = $1 and given = any($2::uuid[])")
async def drop_acls(db: Queries, bucket_id: int, given: Collection[str]) -> None:
    """Drop those whose objects are no more."""


async def set_object_acl(db: Queries, bucket_id: int, name: str, acl: Acl) -> None:
    await db.execute(
        """
        insert into object_acl (bucket_id, name, acl) values ($1, $2, $3)
        on conflict (bucket_id, name) do update set acl = excluded.acl, given = excluded.given
        """,
        bucket_id,
        name,
        acl,
    )
    await db.execute("update object_bucket set revision = revision + 1 where id = $1", bucket_id)
