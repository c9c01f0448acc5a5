"""Cards at Stripe: one customer for each card, one payment intent for each key.

The gateway forgets idempotency keys after a day, and a worker may have been away for longer: a key
is also written into the intent, and looked for among those of the card before it is charged.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from http import HTTPStatus
from typing import Literal, TypeVar

import aiohttp
import structlog
from pydantic import BaseModel, ValidationError

from roost.engines.stripe.messages import KEY
from roost.resources.payments.engine import (
    Card,
    DeclinedError,
    GatewayError,
    UndecidedError,
)

_log = structlog.get_logger(__name__)

VERSION = "2024-06-20"
"""Of the API, whatever the account's own is."""
_TIMEOUT = aiohttp.ClientTimeout(total=30.0)
_MOST_BYTES = 2 * 1024 * 1024
_PAGE = 100
"""Intents of a card that are looked at, the newest first; an account pays one at a time."""

_SILENT = "The payment gateway does not answer."
_REFUSED = "The payment gateway refused this."

Method = Literal["GET", "POST", "DELETE"]


class _Thing(BaseModel):
    id: str


class _Failure(BaseModel):
    message: str = "The card was declined."


class _Intent(BaseModel):
    id: str
    status: str
    metadata: dict[str, str] = {}
    last_payment_error: _Failure | None = None


class _Intents(BaseModel):
    data: list[_Intent]


class _Error(BaseModel):
    type: str = ""
    code: str | None = None
    message: str = ""


class _Answer(BaseModel):
    error: _Error


_Kind = TypeVar("_Kind", bound=BaseModel)


class _MissingError(DeclinedError):
    """The gateway knows nothing by this name."""


class _GivenBackError(DeclinedError):
    """It was given back before."""


_CODES = {"resource_missing": _MissingError, "charge_already_refunded": _GivenBackError}


@dataclass(frozen=True, slots=True)
class StripeGateway:
    """A Gateway. Card numbers pass through, as its account must be allowed to send them."""

    secret_key: str = field(repr=False)
    url: str

    async def store_card(self, card: Card) -> str:
        """Attaching it has the bank check it."""
        fields = {
            "type": "card",
            "card[number]": card.number,
            "card[cvc]": card.cvv,
            "card[exp_month]": str(card.expiry_month),
            "card[exp_year]": str(card.expiry_year),
        }
        method = await self._send("POST", "payment_methods", fields, _Thing)
        owner = {"payment_method": method.id}
        customer = await self._send("POST", "customers", owner, _Thing)
        return f"{customer.id}/{method.id}"

    async def charge(self, key: str, token: str, usd: Decimal) -> None:
        customer, _, method = token.partition("/")
        intent = await self._find(customer, key)
        if intent is None:
            fields = {
                "amount": str(int(usd * 100)),
                "currency": "usd",
                "customer": customer,
                "payment_method": method,
                "payment_method_types[]": "card",
                "off_session": "true",
                "confirm": "true",
                f"metadata[{KEY}]": key,
            }
            intent = await self._send("POST", "payment_intents", fields, _Intent, key)
        _judge(intent)

    async def cancel(self, key: str, token: str) -> None:
        intent = await self._find(token.partition("/")[0], key)
        match intent:
            case None | _Intent(status="canceled"):
                return
            case _Intent(status="processing"):
                raise UndecidedError(_SILENT)
            case _Intent(status="succeeded"):
                try:
                    fields = {"payment_intent": intent.id}
                    await self._send("POST", "refunds", fields, _Thing, f"{key}-refund")
                except _GivenBackError:
                    return
            case _:
                path = f"payment_intents/{intent.id}/cancel"
                await self._send("POST", path, {}, _Thing)

    async def forget_card(self, token: str) -> None:
        """With its customer, who has no other one."""
        try:
            await self._send("DELETE", f"customers/{token.partition('/')[0]}", {}, _Thing)
        except _MissingError:
            return

    async def _find(self, customer: str, key: str) -> _Intent | None:
        fields = {"customer": customer, "limit": str(_PAGE)}
        found = await self._send("GET", "payment_intents", fields, _Intents)
        return next((each for each in found.data if each.metadata.get(KEY) == key), None)

    async def _send(
        self,
        method: Method,
        path: str,
        fields: Mapping[str, str],
        kind: type[_Kind],
        key: str | None = None,
    ) -> _Kind:
        """Raises DeclinedError and GatewayError; neither says what was sent."""
        headers = {"Authorization": f"Bearer {self.secret_key}", "Stripe-Version": VERSION}
        if key is not None:
            headers["Idempotency-Key"] = key
        in_url = method == "GET"
        try:
            async with (
                aiohttp.ClientSession(timeout=_TIMEOUT, headers=headers) as session,
                session.request(
                    method,
                    f"{self.url}/v1/{path}",
                    params=fields if in_url else None,
                    data=None if in_url else fields,
                    allow_redirects=False,
                ) as response,
            ):
                status, body = response.status, await _bounded(response)
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            _log.warning("gateway_fault", reason=type(error).__name__)
            raise GatewayError(_SILENT) from None
        if status != HTTPStatus.OK:
            raise _refusal(status, body)
        return _read(kind, body)


def _judge(intent: _Intent) -> None:
    """Raises unless it has been charged."""
    match intent.status:
        case "succeeded":
            return
        case "processing":
            raise UndecidedError("The bank has not decided yet.")
        case "requires_payment_method" | "requires_action" | "canceled":
            raise DeclinedError((intent.last_payment_error or _Failure()).message)
        case status:
            _log.warning("gateway_fault", reason=f"payment intent {status}")
            raise GatewayError(_SILENT)


def _refusal(status: int, body: bytes) -> Exception:
    """Messages about cards are written for their owners, all others for programmers."""
    try:
        error = _Answer.model_validate_json(body).error
    except ValidationError:
        error = _Error()
    if error.type == "card_error":
        return DeclinedError(error.message or _Failure().message)
    _log.warning("gateway_fault", reason=f"{status} {error.type} {error.code}")
    if error.type == "invalid_request_error" and status in _FOR_GOOD:
        return _CODES.get(error.code or "", DeclinedError)(_REFUSED)
    return GatewayError(_SILENT)


_FOR_GOOD = (HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND)
"""Refusals that would come again. A wrong key (401) is the operator's to mend meanwhile."""


async def _bounded(response: aiohttp.ClientResponse) -> bytes:
    body = b""
    while chunk := await response.content.read(_MOST_BYTES + 1 - len(body)):
        body += chunk
        if len(body) > _MOST_BYTES:
            raise aiohttp.ClientPayloadError
    return body


def _read(kind: type[_Kind], body: bytes) -> _Kind:
    try:
        return kind.model_validate_json(body)
    except ValidationError:
        _log.warning("gateway_fault", reason=f"no {kind.__name__}")
        raise GatewayError(_SILENT) from None
