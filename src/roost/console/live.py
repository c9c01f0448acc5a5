"""What happens in the account, told to open pages as it happens."""

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from roost.web.headers import REVISION

_STREAM = "/v4/events/stream"
_LAST = b"last-event-id"
_SENT = frozenset({b"host", _LAST})


class Live(Response):
    """The API's own stream of events, as the user of a session."""

    def __init__(self, app: ASGIApp, token: str, after: str | None) -> None:
        """`after`: the position of what the page shows; a browser that comes back knows more."""
        self._app = app
        self._token = token
        self._after = after

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [pair for pair in scope["headers"] if pair[0] in _SENT]
        if self._after is not None and not any(name == _LAST for name, _ in headers):
            headers.append((_LAST, self._after.encode()))
        # A session may be older than the release that makes this page.
        headers.append((b"roost-revision", REVISION.encode()))
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
