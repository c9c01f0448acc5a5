"""`?dry_run=true`: a write that is tried, and taken back before anybody can see it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

import orjson

from roost.core.billing.price_changes import last_row, price_changes
from roost.errors import invalid
from roost.store import Connection
from roost.web.call import Call
from roost.web.reply import Reply

if TYPE_CHECKING:
    from roost.web.registry import Endpoint

Handle = Callable[["Endpoint", Call, object], Awaitable[Reply]]

PARAMETER = "dry_run"
MEDIA_TYPE = "application/vnd.roost.dry-run+json"
"""So that nobody takes the answer for that of a request that did something."""


def is_wanted(endpoint: "Endpoint", query: Mapping[str, str]) -> bool:
    """Raises 400 for what is neither true nor false, and where there is none: who asks for one
    must not be taken at their word."""
    value = query.get(PARAMETER, "false")
    if value == "false":
        return False
    if endpoint.dry_run is None:
        raise invalid("This operation has no dry run", PARAMETER)
    if value != "true":
        raise invalid("Must be true or false", PARAMETER)
    return True


async def rehearse(
    connection: Connection, endpoint: "Endpoint", call: Call, body: object, handle: Handle
) -> Reply:
    """Find what the request would change of the account's prices. The caller rolls back."""
    assert endpoint.dry_run is not None
    before = await last_row(connection)
    await handle(endpoint, call, body)
    if endpoint.dry_run.later is not None:
        await endpoint.dry_run.later(call)
    found = await price_changes(connection, call.account_id, before)
    return Reply(200, orjson.dumps(found), content_type=MEDIA_TYPE.encode())
