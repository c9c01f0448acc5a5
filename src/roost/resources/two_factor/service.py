"""The life of a user's second factor: begun, confirmed, used at each login, disabled."""

from dataclasses import replace
from datetime import datetime, timedelta
from hmac import compare_digest

from roost.core.context import Context
from roost.core.events import log
from roost.errors import invalid
from roost.resources.devices import service as devices
from roost.resources.two_factor import queries, rules
from roost.resources.two_factor.queries import Factor
from roost.resources.users.entity import PROFILE
from roost.secrets import Box, hash_token
from roost.store import Queries

CONFIRM_WITHIN = timedelta(hours=1)

_OFF = Factor(secret=None, enabled=False, scratch=None, expiry=None, counter=None)


async def begin(context: Context) -> tuple[str, datetime]:
    """A new secret and until when it waits for confirmation; 400 when a factor is enabled."""
    user_id = context.identity.user_id
    if (await queries.lock(context.db, user_id)).enabled:
        raise invalid("Two-factor authentication is already enabled.")
    secret, expiry = rules.new_secret(), context.clock.seconds() + CONFIRM_WITHIN
    sealed = context.get(Box).seal(secret.encode())
    await queries.save(context.db, user_id, replace(_OFF, secret=sealed, expiry=expiry))
    return secret, expiry


async def confirm(context: Context, code: str) -> str:
    """Enable the secret that waits; the scratch code. 400 for a code that is not the right one."""
    user_id, now = context.identity.user_id, context.clock.now()
    waiting = await queries.lock(context.db, user_id)
    if waiting.secret is None or waiting.expiry is None or waiting.expiry <= now:
        raise invalid("There is no two-factor secret to confirm. Enable two-factor first.")
    counter = rules.matching_counter(_open(context.get(Box), waiting.secret), code, now)
    if counter is None:
        reason = "Invalid token. Two-factor auth not enabled. Please try again."
        raise invalid(reason, "tfa_code")
    scratch = rules.new_scratch()
    enabled = Factor(waiting.secret, True, hash_token(scratch), None, counter)
    await queries.save(context.db, user_id, enabled)
    await log.notify(context, "tfa_enabled", PROFILE.entity(label=context.identity.username))
    return scratch


async def disable(context: Context, code: str | None) -> None:
    """Forget the second factor, and the devices that were trusted because of it.

    Raises 400 for a factor that is enabled without its one-time code or the scratch code.
    """
    user_id = context.identity.user_id
    enabled = await is_enabled(context.db, user_id)
    if enabled and code is None:
        raise invalid("tfa_code is required", "tfa_code")
    if enabled and not await verify_second_factor(
        context.db, context.get(Box), user_id, code or "", context.clock.now()
    ):
        raise invalid("Invalid token. Two-factor auth not disabled. Please try again.", "tfa_code")
    await forget(context.db, user_id)
    if enabled:
        await log.notify(context, "tfa_disabled", PROFILE.entity(label=context.identity.username))


async def forget(db: Queries, user_id: int) -> None:
    """Take the second factor from a user, also from one who has lost it, as an operator does."""
    await queries.save(db, user_id, _OFF)
    await devices.forget_all(db, user_id)


async def is_enabled(db: Queries, user_id: int) -> bool:
    """Nobody changes it until the transaction ends."""
    return (await queries.lock(db, user_id)).enabled


async def verify_second_factor(
    db: Queries, box: Box, user_id: int, code: str, now: datetime
) -> bool:
    """Whether a one-time or scratch code lets the user in; each does so once.

    `db` is a transaction: the code counts as used when it commits. False for a user without a
    second factor.
    """
    factor = await queries.lock(db, user_id)
    if not factor.enabled or factor.secret is None:
        return False
    if factor.scratch is not None and compare_digest(factor.scratch, hash_token(code)):
        await queries.save(db, user_id, replace(factor, scratch=None))
        return True
    counter = rules.matching_counter(_open(box, factor.secret), code, now)
    if counter is None or counter <= (factor.counter or 0):
        return False
    await queries.save(db, user_id, replace(factor, counter=counter))
    return True


def _open(box: Box, sealed: bytes) -> str:
    return box.open(sealed).decode()
