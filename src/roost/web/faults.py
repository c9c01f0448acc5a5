"""Faults that are not the caller's."""

import asyncpg
import structlog

from roost.errors import ApiError, Problem
from roost.web.exchange import Exchange

_log = structlog.get_logger(__name__)

UNAVAILABLE = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.TransactionRollbackError,
)
"""The store does not answer, is stopping, took too long, went away in mid-sentence, or has ended
a transaction for the sake of others, twice."""


def failure(exchange: Exchange, error: Exception) -> ApiError:
    """What the caller is told of a fault that is not theirs; the log is told all."""
    # asyncpg's InterfaceError is also a ValueError where our own arguments are wrong.
    if isinstance(error, UNAVAILABLE) and not isinstance(error, ValueError):
        _log.error("store_unavailable", request_id=exchange.request_id, error=repr(error))
        return unavailable()
    _log.error("request_failed", request_id=exchange.request_id, exc_info=error)
    return ApiError(500, [Problem("An error occurred")])


def unavailable() -> ApiError:
    reason = "The service is not yet available. Please try again later."
    return ApiError(503, [Problem(reason)])
