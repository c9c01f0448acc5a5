"""Consoles of guests: what they wrote, and tickets to type in them."""

import secrets
from datetime import datetime, timedelta

from roost.core import instance_queries
from roost.core.context import Context
from roost.core.engine import EngineError
from roost.core.instance_queries import InstanceFacts
from roost.core.narrowing.restrictions import texts_of
from roost.core.planes import Engines
from roost.errors import ApiError, Problem, invalid, not_found
from roost.resources.compute import console_queries
from roost.resources.compute.console_queries import Ticket
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.jobs import NOT_RUNNING
from roost.resources.compute.records import ConsoleRow
from roost.secrets import hash_token
from roost.store import Store

PATH = "/consoles/"
"""Where a ticket is redeemed: a WebSocket below it."""
VALID = timedelta(seconds=60)
"""How long a ticket can be."""
_NARROWED = "narrowed "
"""Before the secret of a narrowed token's ticket, which servers of a former version must not find:
they would not hold it to its restrictions."""

_SHOWN = 64 * 1024
_SILENT = "The console cannot be read now. Please try again later."


async def read(context: Context, compute_id: int) -> ConsoleRow:
    """What its guest wrote last, also of former boots. Raises 503 where its engine is down."""
    facts = await _find(context, compute_id)
    try:
        engine = context.get(Engines).on_host(INSTANCE_PLANE, facts)
        output = await engine.console(compute_id, _SHOWN)
    except EngineError as error:
        raise ApiError(503, [Problem(_SILENT)]) from error
    return {"output": output.decode(errors="replace")}


async def offer(context: Context, compute_id: int) -> tuple[str, datetime]:
    """The path of a console that takes one connection, and until when (UTC). Raises 400 for a
    guest that does not run."""
    facts = await _find(context, compute_id)
    if facts.status != "running":
        raise invalid(NOT_RUNNING)
    secret, now = secrets.token_urlsafe(32), context.clock.now()
    identity = context.identity
    ticket = Ticket(compute_id, identity.token_id, texts_of(identity.narrowing))
    hashed = hash_token(_NARROWED + secret if ticket.restrictions else secret)
    await console_queries.insert(context.db, hashed, ticket, now, now + VALID)
    return PATH + secret, now + VALID


async def redeem(store: Store, secret: str, now: datetime) -> Ticket | None:
    """The ticket of a path, once, until it expires (UTC)."""
    hashes = [hash_token(secret), hash_token(_NARROWED + secret)]
    return await console_queries.take(store, hashes, now)


async def _find(context: Context, compute_id: int) -> InstanceFacts:
    facts = await instance_queries.find(context.db, compute_id)
    if facts is None or facts.account_id != context.account_id:
        raise not_found()
    return facts
