"""A request, as far as all operations have it in common."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import unquote, unquote_plus

from roost.engines.gateway import bodies, names
from roost.engines.gateway.bodies import Body
from roost.engines.gateway.faults import invalid
from roost.engines.gateway.http import Request
from roost.engines.gateway.identity import Identity, identity_of
from roost.engines.gateway.register import Register
from roost.engines.gateway.signatures import Caller, verify
from roost.engines.gateway.signing import Signed


@dataclass(frozen=True, slots=True)
class Source:
    """An object that is to be copied."""

    label: str
    name: str
    version: str


@dataclass(slots=True)
class Call:
    """What is asked, by whom."""

    request: Request
    method: str
    path: str
    """As it was sent."""
    label: str
    name: str | None
    """Of an object."""
    query: Mapping[str, str]
    pairs: list[tuple[str, str]]
    headers: Mapping[str, str]
    of_host: str | None
    raw_path: str
    id: str = field(default_factory=lambda: secrets.token_hex(8).upper())
    identity: Identity = field(default_factory=Identity)
    caller: Caller = field(default_factory=lambda: Caller(None, "UNSIGNED-PAYLOAD"))

    @property
    def object_name(self) -> str:
        assert self.name is not None
        return self.name

    @property
    def copy_source(self) -> Source | None:
        """What is named; its name may be none."""
        sent = self.headers.get("x-amz-copy-source")
        if sent is None:
            return None
        text, _, version = sent.partition("?versionId=")
        path = unquote(text, errors="surrogateescape").removeprefix("/")
        label, _, name = path.partition("/")
        return Source(label, name, version)

    def body(self) -> Body:
        """Raises S3Error."""
        if self.headers.get("expect", "").lower() == "100-continue":
            self.request.go_on()
        return bodies.opened(self.request.inbox, self.headers, self.caller)


def read(request: Request, domain: str | None) -> Call:
    """Without a look at who signed it."""
    target, _, query_text = _target(request)
    headers = request.headers
    pairs = [
        (_unquoted(name), _unquoted(value))
        for name, _, value in (each.partition("=") for each in query_text.split("&") if each)
    ]
    path = unquote(target, errors="surrogateescape")
    of_host = _label_of(headers.get("host", ""), domain)
    rest = path.removeprefix("/")
    label, slash, name = (of_host, "/", rest) if of_host is not None else rest.partition("/")
    return Call(
        request,
        request.method,
        path,
        label,
        name if slash and name else None,
        dict(pairs),
        pairs,
        headers,
        of_host,
        target,
    )


def authenticate(call: Call, register: Register) -> None:
    """Raises S3Error."""
    signed = Signed(
        call.method, call.path or "/", call.of_host, call.pairs, call.headers, call.raw_path
    )
    call.caller = verify(signed, register.secret_of, datetime.now(UTC))
    call.identity = identity_of(register, call.caller.access_key)


def check_name(name: str) -> None:
    """400 for what no object is called."""
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        raise invalid("The name of an object is UTF-8", "InvalidURI") from None
    if size > names.MAX_BYTES:
        raise invalid("Your key is too long", "KeyTooLongError")


def _unquoted(text: str) -> str:
    if "%" not in text and "+" not in text:
        return text
    return unquote_plus(text, errors="surrogateescape")


def _target(request: Request) -> tuple[str, str, str]:
    raw = request.target
    if not raw.startswith("/"):
        raw = "/" + raw.partition("://")[2].partition("/")[2]
    return raw.partition("?")


def _label_of(host: str, domain: str | None) -> str | None:
    if domain is None:
        return None
    name = host.rpartition(":")[0] if ":" in host else host
    label, dot, rest = name.lower().partition(".")
    return label if dot and rest == domain and label else None
