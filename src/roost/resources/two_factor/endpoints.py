"""What the API offers: two-factor authentication of the caller's user (reference: Profile)."""

from roost.core.identity import TokenKind, UserType
from roost.resources.two_factor import rules, service
from roost.resources.two_factor.bodies import ConfirmTfa, DisableTfa
from roost.resources.two_factor.records import TfaScratchRow, TfaSecretRow
from roost.web.call import Call
from roost.web.registry import Rate, endpoint

_WRITE = ("account:read_write",)
_REFUSED: tuple[UserType | TokenKind, ...] = ("proxy", "oauth")
"""Proxy users never log in, so that they have nothing to log in with; and how users log in is no
business of an app that they let in."""


@endpoint("POST", "/profile/tfa-enable", scopes=_WRITE, refuses=_REFUSED, returns=TfaSecretRow)
async def enable_tfa(call: Call) -> TfaSecretRow:
    """Begin to use two-factor authentication: get a secret for your authenticator.

    Nothing changes until a code is confirmed, which must be within an hour.
    """
    secret, expiry = await service.begin(call)
    uri = rules.otpauth_uri(secret, call.identity.username)
    return {
        "secret": secret,
        "expiry": expiry.isoformat(),
        "otpauth_uri": uri,
        "qr": rules.qr_image(uri),
    }


@endpoint(
    "POST",
    "/profile/tfa-enable-confirm",
    scopes=_WRITE,
    refuses=_REFUSED,
    body=ConfirmTfa,
    returns=TfaScratchRow,
    events=("tfa_enabled",),
    rate=Rate(10, 60),
)
async def confirm_tfa(call: Call, body: ConfirmTfa) -> TfaScratchRow:
    """Enable two-factor authentication with a code of your authenticator.

    From then on logging in takes a code. The answer shows a code for emergencies, once.
    """
    return {"scratch": await service.confirm(call, body.tfa_code)}


@endpoint(
    "POST",
    "/profile/tfa-disable",
    scopes=_WRITE,
    refuses=_REFUSED,
    body=DisableTfa,
    events=("tfa_disabled",),
    rate=Rate(10, 900),
)
async def disable_tfa(call: Call, body: DisableTfa) -> None:
    """Disable two-factor authentication, with a code of your authenticator or the scratch code.

    Trusted devices are forgotten too.
    """
    await service.disable(call, body.tfa_code)
