"""What the API offers: the objects of a bucket (spec A object storage)."""

from roost.resources.object_storage import endpoints, object_service, service
from roost.resources.object_storage.bodies import CreateObjectUrl, UpdateObjectAcl
from roost.resources.object_storage.records import ObjectAclRow, ObjectListRow, ObjectUrlRow
from roost.web.call import Call
from roost.web.grants import AccountAccess
from roost.web.registry import endpoint

_READ = ("object_storage:read_only",)
_WRITE = ("object_storage:read_write",)
_MAY_READ = AccountAccess("read_only")
_MAY_WRITE = AccountAccess("read_write")
_ONE = "/object-storage/buckets/{clusterId}/{bucket}"
_LIST_QUERY = {
    "marker": "The last name of the page before; only what comes after it is listed",
    "delimiter": "`/`: names are shown as one that are the same from the prefix to the next `/`",
    "prefix": "Only names that begin so are listed",
    "page_size": "25 to 500 objects; 100 when omitted",
}


@endpoint(
    "GET",
    f"{_ONE}/object-list",
    scopes=_READ,
    grant=_MAY_READ,
    query=_LIST_QUERY,
    returns=ObjectListRow,
)
async def list_objects(call: Call) -> ObjectListRow:
    """List objects of a bucket.

    By pages, each of which begins after the marker that the one before gives.
    """
    return await object_service.list_objects(call, *_named(call), call.query or {})


@endpoint(
    "GET",
    f"{_ONE}/object-acl",
    scopes=_READ,
    grant=_MAY_READ,
    query={"name": "The object"},
    returns=ObjectAclRow,
)
async def view_object_acl(call: Call) -> ObjectAclRow:
    """View who may use an object.

    One without an ACL of its own has that of its bucket.
    """
    return await object_service.view_acl(call, *_named(call), call.query or {})


async def _prepare_acl(call: Call, body: UpdateObjectAcl) -> object_service.NewAcl:
    return await object_service.prepare_acl(call, *_named(call), body)


@endpoint(
    "PUT",
    f"{_ONE}/object-acl",
    scopes=_WRITE,
    grant=_MAY_WRITE,
    body=UpdateObjectAcl,
    prepare=_prepare_acl,
    of=endpoints.view_bucket,
    returns=ObjectAclRow,
    events=("obj_object_acl_update",),
    after=service.in_force,
)
async def update_object_acl(call: Call, new: object_service.NewAcl) -> ObjectAclRow:
    """Update who may use an object.

    It is in force when the event is finished, in place of the bucket's ACL, until the object is
    deleted or written anew. A bucket has room for about 70 of them.
    """
    return await object_service.change_acl(call, *_named(call), new)


async def _sign(call: Call, body: CreateObjectUrl) -> ObjectUrlRow:
    return {"url": await object_service.sign(call, *_named(call), body)}


@endpoint(
    "POST",
    f"{_ONE}/object-url",
    scopes=_WRITE,
    grant=_MAY_WRITE,
    body=CreateObjectUrl,
    prepare=_sign,
    of=endpoints.view_bucket,
    returns=ObjectUrlRow,
)
async def create_object_url(_call: Call, row: ObjectUrlRow) -> ObjectUrlRow:
    """Create a pre-signed URL.

    Whoever has it can get, write or delete the object, without a key, until it expires; or begin
    an upload of it by parts, put one of them, complete or abort it.
    """
    return row


def _named(call: Call) -> tuple[str, str]:
    return call.text("clusterId"), call.text("bucket")
