"""What the API offers: the OAuth clients of an account (spec B OAuth clients)."""

import secrets

import orjson

from roost.core.events import log
from roost.core.identity import UserType
from roost.core.limits.check import check_limits
from roost.core.public_url import PublicUrl
from roost.errors import invalid, not_found
from roost.ids import new_token
from roost.resources.oauth_clients import queries, rules, service
from roost.resources.oauth_clients.bodies import CreateOAuthClient, UpdateOAuthClient
from roost.resources.oauth_clients.entity import OAUTH_CLIENT
from roost.resources.oauth_clients.queries import BY_ID, CLIENTS
from roost.resources.oauth_clients.records import OAuthClientRow
from roost.resources.oauth_clients.service import lock, make_thumbnail
from roost.secrets import hash_token
from roost.web.call import Call
from roost.web.grants import AccountAccess
from roost.web.registry import Binary, Page, endpoint
from roost.web.reply import Reply

_READ = ("account:read_only",)
_WRITE = ("account:read_write",)
_MAY_READ = AccountAccess("read_only")
_MAY_WRITE = AccountAccess("read_write")
_ALL = "/account/oauth-clients"
_ONE = "/account/oauth-clients/{clientId}"
_ID_BYTES = 10
_PROXIES: tuple[UserType, ...] = ("proxy",)
"""Whom an account lets in is the business of its own people."""


@endpoint(
    "GET",
    _ALL,
    scopes=_READ,
    grant=_MAY_READ,
    returns=Page(OAuthClientRow),
    filters=CLIENTS.columns,
)
async def list_oauth_clients(call: Call) -> bytes:
    """List OAuth clients.

    Applications that may ask users of this server for access.
    """
    return await call.collection(call.get(PublicUrl).complete(CLIENTS), call.account_id)


@endpoint(
    "POST",
    _ALL,
    scopes=_WRITE,
    grant=_MAY_WRITE,
    refuses=_PROXIES,
    body=CreateOAuthClient,
    returns=OAuthClientRow,
    events=("oauth_client_create",),
)
async def create_oauth_client(call: Call, body: CreateOAuthClient) -> bytes:
    """Create an OAuth client; reset its secret to see it.

    The secret is not in the answer.
    """
    client_id = secrets.token_hex(_ID_BYTES)
    secret = hash_token(new_token())
    await queries.insert(
        call.db,
        call.account_id,
        client_id,
        label=body.label,
        redirect_uri=body.redirect_uri,
        public=body.public,
        secret_hash=secret,
        now=call.clock.seconds(),
    )
    await log.notify(call, "oauth_client_create", OAUTH_CLIENT.entity(client_id, body.label))
    await check_limits(call, queries.LIMIT)
    return await _view(call, client_id)


@endpoint("GET", _ONE, scopes=_READ, grant=_MAY_READ, returns=OAuthClientRow)
async def view_oauth_client(call: Call) -> bytes:
    """View an OAuth client.

    Without its secret.
    """
    return await _view(call, call.text("clientId"))


@endpoint(
    "PUT",
    _ONE,
    scopes=_WRITE,
    grant=_MAY_WRITE,
    refuses=_PROXIES,
    body=UpdateOAuthClient,
    of=view_oauth_client,
    returns=OAuthClientRow,
    events=("oauth_client_update",),
)
async def update_oauth_client(call: Call, body: UpdateOAuthClient) -> bytes:
    """Update an OAuth client.

    Fields that are omitted stay as they are.
    """
    client = await lock(call, call.text("clientId"))
    public = client.public if body.public is None else body.public
    if not rules.fits(body.redirect_uri or client.redirect_uri, public):
        raise invalid(rules.NOT_PUBLIC, "redirect_uri")
    await queries.update(call.db, client.id, body.label, body.public, body.redirect_uri)
    await log.notify(
        call, "oauth_client_update", OAUTH_CLIENT.entity(client.id, body.label or client.label)
    )
    return await _view(call, client.id)


@endpoint(
    "DELETE",
    _ONE,
    scopes=_WRITE,
    grant=_MAY_WRITE,
    refuses=_PROXIES,
    events=("oauth_client_delete",),
)
async def delete_oauth_client(call: Call) -> None:
    """Delete an OAuth client and all tokens issued to it.

    Users who had let it in are asked again by any other.
    """
    await service.delete(call, call.text("clientId"))


@endpoint(
    "POST",
    f"{_ONE}/reset-secret",
    scopes=_WRITE,
    grant=_MAY_WRITE,
    refuses=_PROXIES,
    returns=OAuthClientRow,
    events=("oauth_client_secret_reset",),
)
async def reset_oauth_client_secret(call: Call) -> bytes:
    """Give an OAuth client a new secret; the old one is dead at once.

    The answer is the only one that shows it.
    """
    return await _reset_secret(call)


@endpoint(
    "POST",
    f"{_ONE}/reset_secret",
    scopes=_WRITE,
    grant=_MAY_WRITE,
    refuses=_PROXIES,
    returns=OAuthClientRow,
    events=("oauth_client_secret_reset",),
)
async def reset_oauth_client_secret_alias(call: Call) -> bytes:
    """Reset the secret of an OAuth client, spelled as some clients do.

    The same as `reset-secret`.
    """
    return await _reset_secret(call)


@endpoint("GET", f"{_ONE}/thumbnail", public=True, returns=Binary("image/png"))
async def view_oauth_client_thumbnail(call: Call) -> Reply:
    """View the thumbnail of an OAuth client.

    A PNG; 404 while there is none. It takes no token, as users see it when they log in.
    """
    png = await queries.find_thumbnail(call.db, call.text("clientId"))
    if png is None:
        raise not_found()
    return Reply(200, png, content_type=b"image/png")


@endpoint(
    "PUT",
    f"{_ONE}/thumbnail",
    scopes=_WRITE,
    grant=_MAY_WRITE,
    refuses=_PROXIES,
    accepts=("image/png", "image/jpeg"),
    prepare=make_thumbnail,
    of=view_oauth_client,
    events=("oauth_client_update",),
)
async def update_oauth_client_thumbnail(call: Call, png: bytes) -> None:
    """Give an OAuth client a thumbnail; large images are scaled down to 128 pixels.

    The body is a PNG or JPEG, with its Content-Type.
    """
    client = await lock(call, call.text("clientId"))
    await queries.set_thumbnail(call.db, client.id, png)
    await log.notify(call, "oauth_client_update", OAUTH_CLIENT.entity(client.id, client.label))


async def _reset_secret(call: Call) -> bytes:
    client = await lock(call, call.text("clientId"))
    secret = new_token()
    await queries.set_secret(call.db, client.id, hash_token(secret))
    await log.notify(
        call, "oauth_client_secret_reset", OAUTH_CLIENT.entity(client.id, client.label)
    )
    row: OAuthClientRow = orjson.loads(await _view(call, client.id))
    row["secret"] = secret
    return orjson.dumps(row)


async def _view(call: Call, client_id: str) -> bytes:
    return await call.record(client_id, call.get(PublicUrl).complete(BY_ID), call.account_id)
