"""What the API offers: keys for S3 clients (spec A object storage 8 limited)."""

from roost.errors import ApiError
from roost.resources.object_storage import key_service, locks, service
from roost.resources.object_storage.bodies import CreateKey, UpdateKey
from roost.resources.object_storage.key_queries import KEYS
from roost.resources.object_storage.records import KeyRow
from roost.web.call import Call
from roost.web.grants import AccountAccess
from roost.web.registry import Page, Rate, endpoint

_READ = ("object_storage:read_only",)
_WRITE = ("object_storage:read_write",)
_MAY_READ = AccountAccess("read_only")
_MAY_WRITE = AccountAccess("read_write")
_RATE = Rate(60, 60)
_ALL = "/object-storage/keys"
_ONE = f"{_ALL}/{{keyId:int}}"


@endpoint("GET", _ALL, scopes=_READ, grant=_MAY_READ, returns=Page(KeyRow), filters=KEYS.columns)
async def list_object_keys(call: Call) -> bytes:
    """List keys of object storage.

    Those of the account, without their secrets.
    """
    return await call.collection(KEYS, call.account_id)


@endpoint(
    "POST",
    _ALL,
    scopes=_WRITE,
    grant=_MAY_WRITE,
    refuses=("proxy",),
    body=CreateKey,
    returns=KeyRow,
    events=("obj_access_key_create",),
    rate=_RATE,
    after=service.in_force,
)
async def create_object_key(call: Call, body: CreateKey) -> KeyRow:
    """Create a key of object storage, whose secret is shown in this answer and never again.

    S3 clients can use it when the event is finished: for all buckets of the account, or for those
    that `bucket_access` names.
    """
    return await key_service.create(call, body)


@endpoint("GET", _ONE, scopes=_READ, grant=_MAY_READ, returns=KeyRow)
async def view_object_key(call: Call) -> bytes:
    """View a key of object storage.

    Without its secret.
    """
    return await _record(call)


@endpoint(
    "PUT",
    _ONE,
    scopes=_WRITE,
    grant=_MAY_WRITE,
    body=UpdateKey,
    of=view_object_key,
    returns=KeyRow,
    events=("obj_access_key_update",),
    rate=_RATE,
)
async def update_object_key(call: Call, body: UpdateKey) -> bytes:
    """Rename a key of object storage.

    What it may do never changes; make another one for that.
    """
    await key_service.rename(call, call.number("keyId"), body.label)
    return await _record(call)


@endpoint(
    "DELETE",
    _ONE,
    scopes=_WRITE,
    grant=_MAY_WRITE,
    events=("obj_access_key_delete",),
    rate=_RATE,
    after=service.in_force,
)
async def delete_object_key(call: Call) -> None:
    """Revoke a key of object storage.

    Neither it nor what was signed with it opens anything when the event is finished.
    """
    await key_service.delete(call, call.number("keyId"))


async def _record(call: Call) -> bytes:
    try:
        return await call.record(call.number("keyId"), KEYS, call.account_id)
    except ApiError as error:
        if error.status == 404:
            raise locks.key_not_found() from None
        raise
