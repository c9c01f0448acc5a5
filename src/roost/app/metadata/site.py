"""The metadata service of a region: what its guests ask, as the clients of the field ask it.

Who asks is known from the connection; no part of a request can change it.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from roost.clock import Clock
from roost.errors import ApiError, Problem, forbidden, invalid, not_found, unauthenticated
from roost.resources.compute.metadata import service
from roost.resources.compute.metadata.rules import (
    EXPIRY_REASON,
    accepts_token,
    lines_of,
    make_token,
    parse_expiry,
)
from roost.secrets import Box
from roost.services import Services
from roost.store import FAULTS, Queries
from roost.web.rates import RateLimiter
from roost.web.registry import Rate
from roost.web.site import REFUSALS

RATE = Rate(100, 10)
"""Requests of one guest."""
EXPIRY, TOKEN = "Metadata-Token-Expiry-Seconds", "Metadata-Token"
"""Headers of requests."""
_RELAYED = "X-Forwarded-For"
_JSON, _TEXT = "application/json", "text/plain"
_PRIVATE = {"cache-control": "no-store", "x-content-type-options": "nosniff"}

_Document = TypeVar("_Document")
Read = Callable[[Queries, Services, int, str], Awaitable[_Document | None]]
"""What is known of an instance by its id and region; None where there is no such one."""


@dataclass(frozen=True, slots=True)
class MetadataSite:
    """Answers the guests of one region; a request's client is the guest's id."""

    region: str
    store: Queries
    services: Services
    clock: Clock
    limiter: RateLimiter

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/token", self._token, methods=["PUT"]),
                Route("/v1/instance", self._document(service.instance), methods=["GET"]),
                Route("/v1/network", self._document(service.network), methods=["GET"]),
                Route("/v1/ssh-keys", self._document(service.ssh_keys), methods=["GET"]),
                Route("/v1/user-data", self._user_data, methods=["GET"]),
            ],
            exception_handlers=REFUSALS,
        )

    async def _token(self, request: Request) -> Response:
        """A program that passes on what strangers send says so, and gets no token for them."""
        compute_id = self._asker(request)
        if _RELAYED in request.headers:
            raise forbidden()
        seconds = parse_expiry(request.headers.get(EXPIRY))
        if seconds is None:
            raise invalid(EXPIRY_REASON, EXPIRY)
        token = make_token(self.services.get(Box), compute_id, self.clock.now(), seconds)
        if _wants_json(request):
            return _answer(orjson.dumps([token]), _JSON)
        return _answer(token.encode(), _TEXT)

    def _document(
        self, read: Read[Mapping[str, object]]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            document = await self._known(request, read)
            if _wants_json(request):
                return _answer(orjson.dumps(document), _JSON)
            return _answer(lines_of(document).encode(), _TEXT)

        return answer

    async def _user_data(self, request: Request) -> Response:
        """Text, whatever is asked for: base64, as it was sent."""
        return _answer((await self._known(request, service.user_data)).encode(), _TEXT)

    async def _known(self, request: Request, read: Read[_Document]) -> _Document:
        compute_id = self._asker(request)
        token = request.headers.get(TOKEN)
        if not accepts_token(self.services.get(Box), compute_id, self.clock.now(), token):
            raise unauthenticated()
        try:
            found = await read(self.store, self.services, compute_id, self.region)
        except FAULTS as error:
            raise ApiError(503, [Problem("Please try again in a moment")]) from error
        if found is None:
            raise not_found()
        return found

    def _asker(self, request: Request) -> int:
        client = request.client
        if client is None or client.host == "0":
            raise forbidden()
        _, may = self.limiter.take(f"guest {client.host}", "metadata", RATE)
        if not may:
            raise ApiError(429, [Problem("Too many requests")])
        return int(client.host)


def _wants_json(request: Request) -> bool:
    return _JSON in request.headers.get("accept", "")


def _answer(body: bytes, media_type: str) -> Response:
    return Response(body, headers=_PRIVATE, media_type=media_type)
