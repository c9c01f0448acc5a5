"""What the API offers: the phone number of the caller's user (reference: Profile)."""

import secrets
from dataclasses import dataclass
from datetime import timedelta
from hmac import compare_digest

import structlog

from roost.core.events import log
from roost.core.identity import UserType
from roost.errors import invalid
from roost.resources.phone import queries
from roost.resources.phone.bodies import SendCode, VerifyCode
from roost.resources.phone.engine import MessageError, Messages
from roost.resources.users.entity import PROFILE
from roost.secrets import hash_token
from roost.web.call import Call
from roost.web.registry import Rate, endpoint

_WRITE = ("account:read_write",)
_PROXIES: tuple[UserType, ...] = ("proxy",)
_PATH = "/profile/phone-number"
_LIFE = timedelta(minutes=10)
_TRIES = 5

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Sent:
    number: str
    code: bytes


async def _send(call: Call, body: SendCode) -> _Sent:
    """Before the transaction, as carrying a message takes its time."""
    sender = call.get(Messages).sender
    if sender is None:
        raise invalid("Text messages are not available here", "phone_number")
    code = f"{secrets.randbelow(10**6):06}"
    try:
        await sender.send(body.number, f"Your Roost verification code is {code}")
    except MessageError as error:
        _log.warning("message_not_sent", reason=str(error))
        raise invalid("The message could not be sent", "phone_number") from None
    return _Sent(body.number, hash_token(code))


@endpoint(
    "POST",
    _PATH,
    scopes=_WRITE,
    refuses=_PROXIES,
    body=SendCode,
    prepare=_send,
    rate=Rate(3, 60),
)
async def send_phone_code(call: Call, sent: _Sent) -> None:
    """Send a code to a phone, to verify that the number is yours.

    The code is valid for 10 minutes and five tries.
    """
    expiry = call.clock.now() + _LIFE
    await queries.begin(call.db, call.identity.user_id, sent.number, sent.code, expiry)


async def _check_code(call: Call, body: VerifyCode) -> str:
    """The number that the code is of. A try counts although the request is refused."""
    pending = await queries.try_code(call.db, call.identity.user_id)
    if (
        pending is None
        or pending.tries > _TRIES
        or pending.expiry <= call.clock.now()
        or not compare_digest(pending.code, hash_token(body.otp_code))
    ):
        raise invalid("The code is wrong or has expired: ask for another one", "otp_code")
    return pending.number


@endpoint(
    "POST",
    f"{_PATH}/verify",
    scopes=_WRITE,
    refuses=_PROXIES,
    body=VerifyCode,
    prepare=_check_code,
    events=("profile_update",),
    rate=Rate(10, 60),
)
async def verify_phone_number(call: Call, number: str) -> None:
    """Verify your phone number with the code that was sent to it.

    Your profile shows it from then on.
    """
    await queries.verify(call.db, call.identity.user_id, number)
    await _notify(call)


@endpoint("DELETE", _PATH, scopes=_WRITE, refuses=_PROXIES, events=("profile_update",))
async def delete_phone_number(call: Call) -> None:
    """Delete the phone number of your user.

    A code that was sent is void too.
    """
    await queries.delete(call.db, call.identity.user_id)
    await _notify(call)


async def _notify(call: Call) -> None:
    entity = PROFILE.entity(label=call.identity.username)
    await log.notify(call, "profile_update", entity)
