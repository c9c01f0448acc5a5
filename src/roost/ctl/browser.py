"""Login by a browser: the authorization code comes to a port of this machine (RFC 8252, 7.3)."""

import base64
import hashlib
import secrets
import time
import webbrowser
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qsl, urlencode, urlsplit

import click

from roost.ctl.client import Request, send
from roost.ctl.errors import NOT_ALLOWED, UNREACHABLE, WRONG_USE, CommandError
from roost.ctl.profiles import Profile
from roost.ctl.renewal import ask_token
from roost.ctl.show import as_record

DEFAULT_PORT = 8976
PATH = "/callback"
SECONDS = 300
"""That a person has."""
_DONE = (
    b"<!doctype html><title>roostctl</title><p>You may close this page, and go on where you were."
)


class _Server(HTTPServer):
    """Takes one answer, whose `state` is known; all else that comes is nobody's."""

    def __init__(self, port: int, state: str) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.state = state
        self.answer: dict[str, str] = {}


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 10

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        answer = dict(parse_qsl(parts.query))
        known = secrets.compare_digest(answer.get("state", "").encode(), self.server.state.encode())
        if parts.path != PATH or not known:
            self.send_error(404)
            return
        self.server.answer = answer
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Security-Policy", "default-src 'none'")
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        self.wfile.write(_DONE)

    def log_message(self, *args: object) -> None:
        """Nothing: the request has the code."""


def login(profile: Profile, port: int, scopes: str) -> Profile:
    """Let a person allow it in their browser; CommandError."""
    verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(24)
    digest = hashlib.sha256(verifier.encode()).digest()
    described = Request("GET", "/.well-known/oauth-authorization-server", again=True)
    issuer = as_record(send(replace(profile, token=""), described).json()).get("issuer")
    redirect_uri = f"http://127.0.0.1:{port}{PATH}"
    query = {
        "response_type": "code",
        "client_id": profile.client_id or "",
        "redirect_uri": redirect_uri,
        "scope": scopes,
        "state": state,
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    answer = _ask(f"{profile.url}/oauth/authorize?{urlencode(query)}", port, state)
    if answer.get("iss") != issuer:
        raise CommandError("another server has answered than was asked", NOT_ALLOWED)
    if "code" not in answer:
        raise CommandError(
            f"the login was refused: {answer.get('error_description', '')}", NOT_ALLOWED
        )
    form = {
        "grant_type": "authorization_code",
        "code": answer["code"],
        "redirect_uri": redirect_uri,
        "code_verifier": verifier,
    }
    return ask_token(profile, form)


def _ask(url: str, port: int, state: str) -> dict[str, str]:
    try:
        server = _Server(port, state)
    except OSError as error:
        text = f"port {port} cannot be used: {error.strerror}"
        raise CommandError(text, WRONG_USE) from None
    with server:
        click.echo(f"Allow it in your browser:\n{url}", err=True)
        webbrowser.open(url)
        deadline = time.monotonic() + SECONDS
        while not server.answer:
            server.timeout = deadline - time.monotonic()
            if server.timeout <= 0:
                raise CommandError("nobody has allowed it for five minutes", UNREACHABLE)
            try:
                server.handle_request()
            except (TimeoutError, ConnectionError):
                continue
        return server.answer
