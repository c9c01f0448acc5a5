"""HTTP, by the standard library: others take longer to import than a call takes."""

import http.client
import io
import json
import re
import ssl
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import BinaryIO
from urllib.parse import urlsplit

import click

from roost.commands.operations import revision
from roost.commands.written import Value
from roost.ctl.errors import NOT_ALLOWED, UNREACHABLE, CommandError, code_of
from roost.ctl.profiles import Profile

SECONDS = 120
"""That an answer may take: the API waits for 60 at most."""
TRIES = 4
_PAUSES = (0.5, 2, 5)
_LONGEST_PAUSE = 30
_PIECE = 1 << 18
_AGAIN = (429, 502, 503, 504)
_TOKEN = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    """With the query."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = field(default=None, repr=False)
    again: bool = False
    """Whether it may be sent once more when nobody knows what became of it."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    """By their names in lower case."""
    body: bytes = field(repr=False)

    def json(self) -> Value:
        """CommandError when a server answers that is no Roost."""
        try:
            found: Value = json.loads(self.body or b"{}")
        except ValueError:
            raise CommandError("the server answers no JSON: is it Roost?", UNREACHABLE) from None
        return found


def send(profile: Profile, request: Request) -> Answer:
    """What the server answers; CommandError for a refusal, or when it is not reached.

    Again where that does no harm, when it is busy or the connection was lost.
    """
    for number in range(1, TRIES + 1):
        try:
            with opened(profile, request) as response:
                answer = Answer(response.status, headers_of(response), response.read())
        except (OSError, http.client.HTTPException) as error:
            if isinstance(error, ssl.SSLCertVerificationError) or not _may(request, number):
                raise unreachable(profile, error) from None
            time.sleep(_PAUSES[number - 1])
            continue
        if answer.status in _AGAIN and _may(request, number):
            time.sleep(_pause(answer, number))
            continue
        return checked(answer)
    raise AssertionError


@contextmanager
def opened(profile: Profile, request: Request) -> Iterator[http.client.HTTPResponse]:
    """One exchange. OSError and HTTPException are the caller's; CommandError for what is no token,
    which is shown nowhere."""
    if profile.token and not _TOKEN.fullmatch(profile.token):
        raise CommandError("the token has characters that no token has", NOT_ALLOWED)
    with closing(connect(profile.url, profile.ca)) as connection:
        # A token may have been made when records had another shape.
        headers = {"User-Agent": "roostctl", "Roost-Revision": revision(), **request.headers}
        if profile.token:
            headers["Authorization"] = f"Bearer {profile.token}"
        base = urlsplit(profile.url).path
        connection.request(request.method, base + request.path, request.body, headers)
        yield connection.getresponse()


def send_file(url: str, ca: str | None, file: BinaryIO) -> None:
    """PUT a file to an address that needs no token; CommandError."""
    parts = urlsplit(url)
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
    target = f"{parts.path}?{parts.query}" if parts.query else parts.path
    try:
        with closing(connect(url, ca)) as connection:
            with click.progressbar(
                length=size, label="upload", file=sys.stderr, hidden=not sys.stderr.isatty()
            ) as bar:
                connection.request("PUT", target, _pieces(file, bar.update), headers)
            response = connection.getresponse()
            answer = Answer(response.status, headers_of(response), response.read())
    except (OSError, http.client.HTTPException) as error:
        raise CommandError(f"the file was not sent: {_reason(error)}", UNREACHABLE) from None
    checked(answer)


def _pieces(file: BinaryIO, sent: Callable[[int], None]) -> Iterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece
        sent(len(piece))


def connect(url: str, ca: str | None) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme == "https":
        try:
            context = ssl.create_default_context()
            if ca:
                context.load_verify_locations(ca)
        except OSError as error:
            raise CommandError(f"{ca} cannot be read: {_reason(error)}", UNREACHABLE) from None
        return http.client.HTTPSConnection(host, parts.port, timeout=SECONDS, context=context)
    return http.client.HTTPConnection(host, parts.port, timeout=SECONDS)


def checked(answer: Answer) -> Answer:
    """The answer, if it is none that refuses; else CommandError, which names fields and the
    request."""
    if answer.status < 300 or answer.status == HTTPStatus.NOT_MODIFIED:
        return answer
    reasons = _reasons(answer) or [f"the server answers {answer.status}"]
    request_id = answer.headers.get("x-request-id")
    told = f"\nRequest: {request_id}" if request_id else ""
    raise CommandError("\n".join(reasons) + told, code_of(answer.status))


def unreachable(profile: Profile, error: Exception) -> CommandError:
    return CommandError(f"{profile.url} cannot be reached: {_reason(error)}", UNREACHABLE)


def _reasons(answer: Answer) -> list[str]:
    try:
        errors = json.loads(answer.body)["errors"]
        return [
            f"{each['field']}: {each['reason']}" if each.get("field") else str(each["reason"])
            for each in errors
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"{error.verify_message} (--ca at login, or ROOST_CA, names who is trusted)"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def headers_of(response: http.client.HTTPResponse) -> Mapping[str, str]:
    return {name.lower(): text for name, text in response.getheaders()}


def _may(request: Request, number: int) -> bool:
    return request.again and number < TRIES


def _pause(answer: Answer, number: int) -> float:
    """As long as the server says, where it is busy because of us."""
    text = answer.headers.get("retry-after", "")
    if answer.status == HTTPStatus.TOO_MANY_REQUESTS and text.isascii() and text.isdecimal():
        return min(int(text), _LONGEST_PAUSE)
    return _PAUSES[number - 1]
