"""What the API offers: the caller's SSH keys (reference: Profile)."""

from roost.core.events import log
from roost.core.identity import UserType
from roost.core.limits.check import check_limits
from roost.errors import not_found
from roost.resources.ssh_keys import queries
from roost.resources.ssh_keys.bodies import CreateSshKey, UpdateSshKey
from roost.resources.ssh_keys.queries import SSH_KEY, SSH_KEYS
from roost.resources.ssh_keys.records import SshKeyRow
from roost.web.call import Call
from roost.web.registry import Page, endpoint

_READ = ("account:read_only",)
_WRITE = ("account:read_write",)
_PROXIES: tuple[UserType, ...] = ("proxy",)
"""Whoever acts as one has keys of their own in the parent account."""
_ONE = "/profile/sshkeys/{sshKeyId:int}"


@endpoint(
    "GET",
    "/profile/sshkeys",
    scopes=_READ,
    returns=Page(SshKeyRow),
    filters=SSH_KEYS.columns,
)
async def list_ssh_keys(call: Call) -> bytes:
    """List the SSH keys of your user.

    Keys that `authorized_users` puts into new instances.
    """
    return await call.collection(SSH_KEYS, call.identity.user_id)


@endpoint(
    "POST",
    "/profile/sshkeys",
    scopes=_WRITE,
    refuses=_PROXIES,
    body=CreateSshKey,
    returns=SshKeyRow,
    events=("user_ssh_key_add",),
)
async def add_ssh_key(call: Call, body: CreateSshKey) -> bytes:
    """Add an SSH key to your user.

    It is put into instances that name you in `authorized_users`.
    """
    user_id, now = call.identity.user_id, call.clock.seconds()
    key_id = await queries.add(call.db, user_id, body.label, body.ssh_key, now)
    await log.notify(call, "user_ssh_key_add", SSH_KEY.entity(key_id, body.label))
    await check_limits(call, queries.LIMIT)
    return await _view(call, key_id)


@endpoint("GET", _ONE, scopes=_READ, returns=SshKeyRow)
async def view_ssh_key(call: Call) -> bytes:
    """View one of your user's SSH keys.

    With the key itself.
    """
    return await _view(call, call.number("sshKeyId"))


@endpoint(
    "PUT",
    _ONE,
    scopes=_WRITE,
    refuses=_PROXIES,
    body=UpdateSshKey,
    of=view_ssh_key,
    returns=SshKeyRow,
    events=("user_ssh_key_update",),
)
async def update_ssh_key(call: Call, body: UpdateSshKey) -> bytes:
    """Rename one of your user's SSH keys.

    The key itself never changes.
    """
    key_id = call.number("sshKeyId")
    label = await queries.rename(call.db, call.identity.user_id, key_id, body.label)
    if label is None:
        raise not_found()
    await log.notify(call, "user_ssh_key_update", SSH_KEY.entity(key_id, label))
    return await _view(call, key_id)


@endpoint("DELETE", _ONE, scopes=_WRITE, refuses=_PROXIES, events=("user_ssh_key_delete",))
async def delete_ssh_key(call: Call) -> None:
    """Delete one of your user's SSH keys; guests that have it keep it.

    Guests that have it keep it.
    """
    key_id = call.number("sshKeyId")
    label = await queries.delete(call.db, call.identity.user_id, key_id)
    if label is None:
        raise not_found()
    await log.notify(call, "user_ssh_key_delete", SSH_KEY.entity(key_id, label))


async def _view(call: Call, key_id: int) -> bytes:
    return await call.record(key_id, SSH_KEYS, call.identity.user_id)
