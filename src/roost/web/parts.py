"""Reads that come within another request, of the same caller."""

from urllib.parse import unquote

from roost.errors import ApiError, Problem
from roost.web.call import Asked
from roost.web.exchange import Exchange
from roost.web.registry import Binary, Endpoint, Stream
from roost.web.waits import WAIT

_OF_CALLER = (b"authorization", b"host", b"roost-revision", b"user-agent")
"""Headers that another request of the same caller has too."""


def part_of(around: Exchange, asked: Asked) -> Exchange:
    """The read as if it had come by itself."""
    path, _, query = asked.path.partition("?")
    headers = [each for each in around.scope["headers"] if each[0] in _OF_CALLER]
    if asked.filter is not None:
        headers.append((b"x-filter", asked.filter))
    if asked.if_none_match is not None:
        headers.append((b"if-none-match", asked.if_none_match.encode()))
    scope = {
        **around.scope,
        "method": "GET",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": headers,
    }
    return Exchange.of(scope)


def check_part(endpoint: Endpoint, exchange: Exchange) -> None:
    """ApiError 400 for what is not answered at once, or not in JSON."""
    if isinstance(endpoint.returns, Stream | Binary) or WAIT in exchange.query():
        raise ApiError(400, [Problem("This can only be asked for by itself")])
