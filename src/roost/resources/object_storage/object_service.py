"""What the API does with the objects of a bucket: list them, their ACLs, pre-signed URLs."""

from dataclasses import dataclass

from roost.core.context import Context
from roost.errors import Problem, invalid, invalid_fields, not_found
from roost.resources.object_storage import acl_queries, jobs, locks, queries, rules
from roost.resources.object_storage.bodies import CreateObjectUrl, UpdateObjectAcl
from roost.resources.object_storage.engine import Acl, Signature, StoredObject, Wanted
from roost.resources.object_storage.records import ObjectAclRow, ObjectListRow, ObjectRow
from roost.resources.object_storage.service import engine_of, reaching

DEFAULT_PAGE, MIN_PAGE, MAX_PAGE = 100, 25, 500
MISSING = "The object does not exist"
FULL = "The bucket has no room for the ACL of another object"


@dataclass(frozen=True, slots=True)
class ListQuery:
    """What the query of a list says."""

    marker: str = ""
    delimiter: str = ""
    prefix: str = ""
    page_size: int = DEFAULT_PAGE


def read_query(query: dict[str, str]) -> ListQuery:
    """Raises 400 with all that is wrong."""
    problems = list[Problem]()
    texts = {name: query.get(name, "") for name in ("marker", "delimiter", "prefix")}
    for name, text in texts.items():
        if len(text.encode(errors="replace")) > rules.MAX_NAME or "\0" in text:
            problems.append(Problem(f"Length must be 0-{rules.MAX_NAME} bytes", name))
    size = query.get("page_size", str(DEFAULT_PAGE))
    number = int(size) if size.isascii() and size.isdigit() and len(size) < 10 else 0
    if not MIN_PAGE <= number <= MAX_PAGE:
        problems.append(Problem(f"Must be {MIN_PAGE}-{MAX_PAGE}", "page_size"))
    if problems:
        raise invalid_fields(problems)
    return ListQuery(**texts, page_size=number)


async def list_objects(
    context: Context, cluster: str, label: str, query: dict[str, str]
) -> ObjectListRow:
    bucket = await locks.find(context, cluster, label)
    asked = read_query(query)
    wanted = Wanted(asked.page_size, asked.marker, asked.prefix, asked.delimiter)
    with reaching():
        page = await engine_of(context, bucket).list_objects(bucket.name, wanted)
    owner = await queries.owner(context.db, context.account_id)
    return {
        "data": [_row(each, owner) for each in page.objects],
        "next_marker": page.next_marker,
        "is_truncated": page.next_marker is not None,
    }


def _row(found: StoredObject, owner: str) -> ObjectRow:
    modified = found.modified
    return {
        "name": found.name,
        "etag": found.etag,
        "last_modified": None if modified is None else modified.isoformat(timespec="seconds"),
        "owner": None if modified is None else owner,
        "size": found.size,
    }


async def view_acl(
    context: Context, cluster: str, label: str, query: dict[str, str]
) -> ObjectAclRow:
    """404 for an object that does not exist, too."""
    bucket, name = await locks.find(context, cluster, label), query.get("name")
    if name is None:
        raise invalid("name is required", "name")
    if "\0" in name or len(name.encode(errors="replace")) > rules.MAX_NAME:
        raise not_found()
    with reaching():
        exists = bool(name) and await engine_of(context, bucket).has_object(bucket.name, name)
    if not exists:
        raise not_found()
    own = (await acl_queries.acls(context.db, bucket.id)).get(name)
    if own is not None:
        with reaching():
            ended = await engine_of(context, bucket).ended_acls(bucket.name)
        if own.given not in ended:
            return await acl_row(context, own.acl)
    return await acl_row(context, bucket.acl)


async def acl_row(context: Context, acl: Acl) -> ObjectAclRow:
    owner = await queries.owner(context.db, context.account_id)
    return {"acl": acl, "acl_xml": rules.acl_xml(acl, owner)}


@dataclass(frozen=True, slots=True)
class NewAcl:
    """The ACL that an object shall have."""

    name: str
    acl: Acl
    ended: frozenset[str]
    """What was given to objects that are no more, and takes no room."""


async def prepare_acl(context: Context, cluster: str, label: str, body: UpdateObjectAcl) -> NewAcl:
    """400 unless the object exists."""
    assert body.acl != "custom"
    bucket = await locks.find(context, cluster, label)
    with reaching():
        engine = engine_of(context, bucket)
        if not await engine.has_object(bucket.name, body.name):
            raise invalid(MISSING, "name")
        return NewAcl(body.name, body.acl, await engine.ended_acls(bucket.name))


async def change_acl(context: Context, cluster: str, label: str, new: NewAcl) -> ObjectAclRow:
    """One that was given before is given anew: its object may be another one by now."""
    bucket = await locks.lock(context, cluster, label)
    await acl_queries.drop_acls(context.db, bucket.id, new.ended)
    own = await acl_queries.acls(context.db, bucket.id)
    if not rules.have_room({*own, new.name}):
        raise invalid(FULL, "name")
    await acl_queries.set_object_acl(context.db, bucket.id, new.name, new.acl)
    await jobs.start_bucket(context, "obj_object_acl_update", bucket)
    return await acl_row(context, new.acl)


async def sign(context: Context, cluster: str, label: str, body: CreateObjectUrl) -> str:
    """Rule 6: a URL for an object that need not exist."""
    bucket = await locks.find(context, cluster, label)
    seconds = _seconds(context, body)
    signature = Signature(
        bucket.name,
        bucket.mark,
        body.name,
        body.method,
        seconds,
        body.content_type,
        body.upload_id,
        body.part_number,
    )
    with reaching():
        return await engine_of(context, bucket).sign(signature)


def _seconds(context: Context, body: CreateObjectUrl) -> int:
    """The seconds of a URL's life: of what a proxy user makes nothing outlives the token."""
    identity = context.identity
    if identity.user_type != "proxy" or identity.expiry is None:
        return body.expires_in
    left = max(1, int((identity.expiry - context.clock.now()).total_seconds()))
    if "expires_in" in body.model_fields_set and body.expires_in > left:
        raise invalid(f"Must be at most {left}: the token ends then", "expires_in")
    return min(body.expires_in, left)
