"""Who a request is from, how many they have sent, and whether they may do what they ask for."""

from roost.core.context import Context
from roost.core.identity import Identity
from roost.errors import ApiError, Problem, forbidden, out_of_scope, unauthenticated
from roost.web.call import Call
from roost.web.connections import origin
from roost.web.edge import Edge
from roost.web.exchange import Exchange
from roost.web.grants import require
from roost.web.narrowing import require_within
from roost.web.rates import Caller
from roost.web.registry import GENERAL_RATE, Endpoint, Rate
from roost.web.routing import Params

ANONYMOUS_RATE = Rate(100, 60)
"""Requests with a bad token or without one, where one is needed; for each address."""

LARGE = 64 * 1024
"""Bytes of a body that take a processor for a while, as JSON."""
LARGE_RATE = Rate(240, 120)
"""Requests with a large body, beside the limit of the operation; for each user."""


class Admission:
    """The checks of token, rate, scope and grant, which come before the body is read."""

    def __init__(self, edge: Edge) -> None:
        self._edge = edge

    async def authorize(self, exchange: Exchange, endpoint: Endpoint, params: Params) -> None:
        """Find the caller, count the request, and refuse what they may not do.

        Raises ApiError: 401 for the token, 429, 401 for the scope, 403 or 404 for the grant.
        """
        identity = await self._identify(exchange)
        exchange.identity = identity
        if identity is None and not endpoint.public:
            self._count_anonymous(exchange)
            raise unauthenticated()
        bucket = "general" if endpoint.rate is GENERAL_RATE else endpoint.name
        self._count(exchange, _caller(exchange), bucket, endpoint.rate)
        if identity is not None:
            self._edge.turns.enter(identity.user_id)
            exchange.entered = identity.user_id
            await self._admit(exchange, identity, endpoint, params)

    async def recognize(self, exchange: Exchange) -> None:
        """Find who asks for what is not there, as these answers have a caller's headers too."""
        try:
            exchange.identity = await self._identify(exchange)
        except ApiError as error:
            if error.status != 401:
                raise
        else:
            self._count(exchange, _caller(exchange), "general", GENERAL_RATE)

    async def _admit(
        self, exchange: Exchange, identity: Identity, endpoint: Endpoint, params: Params
    ) -> None:
        # What is public, any token may: its scopes say what is shown beside that.
        if not endpoint.public and not identity.scopes.allow(endpoint.scopes):
            raise out_of_scope()
        if endpoint.closed_to(identity) is not None:
            raise forbidden()
        await require(endpoint.grant, identity, params, self._edge.store)
        if identity.narrowing is not None:
            edge = self._edge
            context = Context(
                caller=identity, db=edge.store, services=edge.services, clock=edge.clock
            )
            await require_within(endpoint, context, params, exchange.client)

    async def _identify(self, exchange: Exchange) -> Identity | None:
        """Bad tokens are counted for their address, good ones there are not held up by them."""
        try:
            return await self._edge.authenticator.identify(exchange.header(b"authorization"))
        except ApiError:
            self._count_anonymous(exchange)
            raise

    def count_large(self, exchange: Exchange) -> None:
        """Count a request with a large body beside the limit of its operation; raises 429."""
        self._count(exchange, _caller(exchange), "large bodies", LARGE_RATE)

    def _count_anonymous(self, exchange: Exchange) -> None:
        self._count(exchange, origin(exchange.client), "anonymous", ANONYMOUS_RATE)

    def _count(self, exchange: Exchange, caller: Caller, bucket: str, rate: Rate) -> None:
        """Raises 429 when the caller's window is used up."""
        exchange.window, in_time = self._edge.limiter.take(caller, bucket, rate)
        if not in_time:
            raise ApiError(429, [Problem("Too many requests")])

    async def admit_again(self, exchange: Exchange, endpoint: Endpoint, call: Call) -> None:
        """Admit a caller once more, who may have lost token or rights while the body came."""
        if exchange.identity is None:
            return
        known = await self._identify(exchange)
        if known is not exchange.identity:
            exchange.identity = call.caller = known
            await self._admit(exchange, call.identity, endpoint, call.params)


def _caller(exchange: Exchange) -> Caller:
    """Whom a request is counted for: tokens are free, so that a user is one caller with all."""
    identity = exchange.identity
    return origin(exchange.client) if identity is None else identity.user_id
