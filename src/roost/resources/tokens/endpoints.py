"""What the API offers: the personal access tokens of the caller's user (reference: Profile)."""

from datetime import datetime

import orjson

from roost.core.events import log
from roost.core.scopes import Scopes
from roost.errors import invalid, invalid_fields, not_found
from roost.resources.tokens import queries
from roost.resources.tokens.bodies import CreateToken, UpdateToken
from roost.resources.tokens.entity import TOKEN
from roost.resources.tokens.queries import TOKENS, revoke_token
from roost.resources.tokens.records import PersonalTokenRow
from roost.resources.tokens.rules import MAX_TOKENS, problems_of
from roost.resources.tokens.service import make_token
from roost.web.call import Call
from roost.web.registry import Page, endpoint
from roost.web.revisions.revisions import Revisions

_READ = ("account:read_only",)
_WRITE = ("account:read_write",)
_ONE = "/profile/tokens/{tokenId:int}"


@endpoint(
    "GET",
    "/profile/tokens",
    scopes=_READ,
    returns=Page(PersonalTokenRow),
    filters=TOKENS.columns,
)
async def list_tokens(call: Call) -> bytes:
    """List the personal access tokens of your user.

    Those that have expired are not among them.
    """
    return await call.collection(TOKENS, call.identity.user_id, call.clock.now())


@endpoint(
    "POST",
    "/profile/tokens",
    scopes=_WRITE,
    refuses=("proxy", "oauth"),
    body=CreateToken,
    returns=PersonalTokenRow,
    events=("token_create",),
)
async def create_token(call: Call, body: CreateToken) -> bytes:
    """Create a personal access token, which is shown in this answer and never again.

    It may do no more than the token in use.
    """
    used, user_id = call.identity, call.identity.user_id
    scopes = Scopes.parse(body.scopes) if body.scopes else used.scopes
    expiry = datetime.fromisoformat(body.expiry) if body.expiry else used.expiry
    if body.revision is not None:
        call.get(Revisions).check(body.revision, "revision")
    problems = list(problems_of(scopes, expiry, used, call.clock.now()))
    if problems:
        raise invalid_fields(problems)
    if await queries.count_with_lock(call.db, user_id, call.clock.now()) >= MAX_TOKENS:
        raise invalid(f"You can have at most {MAX_TOKENS} personal access tokens.")
    made = await make_token(call.db, call.clock, user_id, body.label, scopes, expiry)
    if body.revision is not None:
        await queries.set_revision(call.db, made.id, body.revision)
    await log.notify(call, "token_create", TOKEN.entity(made.id, body.label))
    row: PersonalTokenRow = orjson.loads(await _view(call, made.id))
    return orjson.dumps({**row, "token": made.text})


@endpoint("GET", _ONE, scopes=_READ, returns=PersonalTokenRow)
async def view_token(call: Call) -> bytes:
    """View one of your user's personal access tokens.

    Without the token itself.
    """
    return await _view(call, call.number("tokenId"))


@endpoint(
    "PUT",
    _ONE,
    scopes=_WRITE,
    body=UpdateToken,
    of=view_token,
    returns=PersonalTokenRow,
    events=("token_update",),
)
async def update_token(call: Call, body: UpdateToken) -> bytes:
    """Update one of your user's personal access tokens.

    Its name and its revision. Scopes and expiry never change; make another token for that.
    """
    token_id = call.number("tokenId")
    former = await _lock(call)
    label = body.label or former
    await queries.rename(call.db, token_id, label)
    if body.revision is not None:
        call.get(Revisions).check(body.revision, "revision")
        await queries.set_revision(call.db, token_id, body.revision)
        await call.revoke()
    await log.notify(call, "token_update", TOKEN.entity(token_id, label))
    return await _view(call, token_id)


@endpoint("DELETE", _ONE, scopes=_WRITE, events=("token_delete",))
async def delete_token(call: Call) -> None:
    """Revoke one of your user's personal access tokens at once.

    Nothing can be done with it from then on.
    """
    token_id = call.number("tokenId")
    label = await _lock(call)
    await revoke_token(call.db, token_id, call.clock.seconds())
    await call.revoke()
    await log.notify(call, "token_delete", TOKEN.entity(token_id, label))


async def _lock(call: Call) -> str:
    """The token's label; raises 404 for a token that is not the user's."""
    user_id, token_id = call.identity.user_id, call.number("tokenId")
    label = await queries.lock(call.db, user_id, token_id, call.clock.now())
    if label is None:
        raise not_found()
    return label


async def _view(call: Call, token_id: int) -> bytes:
    return await call.record(token_id, TOKENS, call.identity.user_id, call.clock.now())
