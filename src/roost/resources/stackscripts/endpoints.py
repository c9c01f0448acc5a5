"""What the API offers: StackScripts, public and the account's own (reference: operations)."""

from collections.abc import Collection, Iterator

import orjson

from roost.core.access import give_to_creator
from roost.core.events import log
from roost.core.limits.check import check_limits
from roost.errors import invalid, unauthenticated
from roost.resources.stackscripts import queries, rules, service
from roost.resources.stackscripts.bodies import CreateStackScript, UpdateStackScript
from roost.resources.stackscripts.queries import (
    STACKSCRIPT,
    VISIBLE,
    NewStackScript,
)
from roost.resources.stackscripts.records import StackScriptRow
from roost.resources.users.service import gravatar_of
from roost.store.conditions import columns_of
from roost.store.paging import fetch_record
from roost.web.call import Call
from roost.web.grants import Global, Write
from roost.web.registry import Page, endpoint

_READ = ("stackscripts:read_only",)
_WRITE = ("stackscripts:read_write",)
_ALL = "/compute/stackscripts"
_ONE = f"{_ALL}/{{stackscriptId:int}}"


@endpoint(
    "GET",
    _ALL,
    scopes=_READ,
    public=True,
    returns=Page(StackScriptRow),
    filters=VISIBLE.columns,
)
async def list_stackscripts(call: Call) -> bytes:
    """List public StackScripts and, with a token, the account's own.

    Restricted users see those of the account that are granted to them. `mine` tells them apart.
    """
    wanted = call.selection.condition
    if call.caller is None and VISIBLE.columns["mine"] in columns_of(wanted):
        raise unauthenticated("You must be authenticated to find your StackScripts.")
    # A token that may name certain entities alone sees what everybody sees.
    scope = _scope(call) if call.names_only is None else (None, None)
    return await call.collection(VISIBLE, *scope)


@endpoint(
    "POST",
    _ALL,
    scopes=_WRITE,
    grant=Global("add_stackscripts"),
    body=CreateStackScript,
    returns=StackScriptRow,
    events=("stackscript_create",),
)
async def create_stackscript(call: Call, body: CreateStackScript) -> bytes:
    """Create a StackScript.

    What it asks whoever deploys it is read from the `<UDF …/>` tags in the script.
    """
    new = NewStackScript(
        account_id=call.account_id,
        username=call.identity.username,
        user_gravatar_id=await gravatar_of(call),
        label=body.label,
        description=body.description,
        images=body.images,
        is_public=body.is_public,
        rev_note=body.rev_note,
        script=body.script,
        user_defined_fields=_fields(body.script),
        now=call.clock.seconds(),
    )
    stackscript_id = await queries.insert(call.db, new)
    await give_to_creator(call, STACKSCRIPT.name, stackscript_id)
    await log.notify(call, "stackscript_create", STACKSCRIPT.entity(stackscript_id, body.label))
    await check_limits(call, queries.LIMIT)
    return await _view(call, stackscript_id)


@endpoint("GET", _ONE, scopes=_READ, public=True, returns=StackScriptRow)
async def view_stackscript(call: Call) -> bytes:
    """View a StackScript.

    A private one needs a token of its account, and of a restricted user a grant.
    """
    return await _view(call, call.number("stackscriptId"))


@endpoint(
    "PUT",
    _ONE,
    scopes=_WRITE,
    grant=Write("stackscript"),
    body=UpdateStackScript,
    of=view_stackscript,
    returns=StackScriptRow,
    events=("stackscript_update", "stackscript_revise", "stackscript_publicize"),
)
async def update_stackscript(call: Call, body: UpdateStackScript) -> bytes:
    """Update a StackScript of your account.

    Fields that are omitted stay as they are. A public one stays public. Instances that were made
    with it stay as they are.
    """
    before = await service.lock(call, call.number("stackscriptId"))
    if before.is_public and body.is_public is False:
        raise invalid("A public StackScript cannot become private", "is_public")
    sent = body.model_dump(exclude_none=True)
    changes = {name: value for name, value in sent.items() if value != getattr(before, name)}
    if changes:
        if "script" in changes:
            changes["user_defined_fields"] = _fields(changes["script"])
        await queries.update(call.db, before.id, changes, call.clock.seconds())
        entity = STACKSCRIPT.entity(before.id, body.label or before.label)
        for action in _actions(changes):
            await log.notify(call, action, entity)
    return await _view(call, before.id)


@endpoint(
    "DELETE",
    _ONE,
    scopes=_WRITE,
    grant=Write("stackscript"),
    events=("stackscript_delete",),
)
async def delete_stackscript(call: Call) -> None:
    """Delete a private StackScript.

    Instances that were made with it stay as they are.
    """
    await service.delete(call, call.number("stackscriptId"))


def _scope(call: Call) -> tuple[int | None, int | None]:
    """Whose private ones are seen; nobody's with a token that may not read StackScripts."""
    if call.caller is None or not call.caller.scopes.allow(_READ):
        return None, None
    return call.account_id, call.grantee


async def _view(call: Call, stackscript_id: int) -> bytes:
    return await fetch_record(call.db, VISIBLE, _scope(call), stackscript_id)


def _fields(script: str) -> str:
    return orjson.dumps(rules.find_fields(script)).decode()


def _actions(changes: Collection[str]) -> Iterator[str]:
    """The events that tell what the update does."""
    if set(changes) - {"script", "user_defined_fields", "is_public"}:
        yield "stackscript_update"
    if "script" in changes:
        yield "stackscript_revise"
    if "is_public" in changes:
        yield "stackscript_publicize"
