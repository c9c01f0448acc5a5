"""What the settings say of payments, and where a gateway tells what it has decided."""

import time
from dataclasses import dataclass, field

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from roost.app.secret_files import SecretFileError, read_secret
from roost.engines.simulated.gateway import SimulatedGateway
from roost.engines.stripe.messages import HEADER, KEY, is_signed
from roost.errors import ApiError, Problem, invalid, not_found
from roost.jobs.queue import JobQueue
from roost.resources.payments import service
from roost.resources.payments.engine import Gateways
from roost.settings import Settings
from roost.store import Store

PATH = "/webhooks/stripe"
_MOST_BYTES = 256 * 1024
_KEY, _SECRET = "ROOST_STRIPE_KEY_FILE", "ROOST_STRIPE_WEBHOOK_SECRET_FILE"


def open_gateway(settings: Settings) -> Gateways:
    """Nothing is reached for yet. Raises SecretFileError."""
    match settings.payments:
        case "manual":
            return Gateways(None)
        case "simulated":
            return Gateways(SimulatedGateway())
        case "stripe":
            if settings.stripe_key_file is None:
                raise SecretFileError(f"ROOST_PAYMENTS=stripe needs {_KEY}")
            from roost.engines.stripe.gateway import StripeGateway  # With an HTTP client.

            key = read_secret(_KEY, settings.stripe_key_file).decode("ascii", "replace")
            return Gateways(StripeGateway(key, settings.stripe_url))


class _Object(BaseModel):
    metadata: dict[str, str] = {}


class _Data(BaseModel):
    object: _Object


class _Event(BaseModel):
    type: str
    data: _Data


@dataclass(frozen=True, slots=True)
class StripeMessages:
    """Takes the gateway's messages: that a charge was decided on, which its job asks for then.

    They say nothing that is believed, so that one too many, or too late, does no harm.
    """

    store: Store
    queue: JobQueue
    secret: bytes | None = field(repr=False)

    @classmethod
    def of(cls, settings: Settings, store: Store, queue: JobQueue) -> "StripeMessages":
        """Raises SecretFileError."""
        path = settings.stripe_webhook_secret_file
        secret = None if path is None else read_secret(_SECRET, path)
        return cls(store, queue, secret)

    def route(self) -> Route:
        return Route(PATH, self.answer, methods=["POST"])

    async def answer(self, request: Request) -> Response:
        if self.secret is None:
            raise not_found()
        body = await _read(request)
        if not is_signed(self.secret, request.headers.get(HEADER, ""), body, time.time()):
            raise invalid("The signature is not valid")
        try:
            event = _Event.model_validate_json(body)
        except ValidationError:
            return JSONResponse({})  # Of another kind.
        key = event.data.object.metadata.get(KEY, "")
        if event.type.startswith("payment_intent.") and key:
            async with self.store.transaction() as db:
                await service.ask_again(db, self.queue, key)
        return JSONResponse({})


async def _read(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_BYTES:
            raise ApiError(413, [Problem(f"The body must not be larger than {_MOST_BYTES} bytes")])
    return body
