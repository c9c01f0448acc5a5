"""What happens in the account, told to open pages as it happens."""

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

_STREAM = "/v4/events/stream"
_SENT = frozenset({b"host", b"last-event-id"})


class Live(Response):
    """The API's own stream of events, as the user of a session."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [pair for pair in scope["headers"] if pair[0] in _SENT]
        headers.append((b"authorization", f"Bearer {self._token}".encode()))
        of_api: Scope = {
            **scope,
            "path": _STREAM,
            "raw_path": _STREAM.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": headers,
        }
        await self._app(of_api, receive, send)
