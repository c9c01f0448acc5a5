"""Signatures of S3 as they are made: what is signed of a request, and how.

https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html
"""

import hashlib
import hmac
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from urllib.parse import quote

UNSIGNED = "UNSIGNED-PAYLOAD"
EMPTY = hashlib.sha256(b"").hexdigest()
ALGORITHM = "AWS4-HMAC-SHA256"
_SAFE = "-_.~"
_PLAIN = re.compile("[A-Za-z0-9._~-]*")
_PLAIN_PATH = re.compile("[A-Za-z0-9._~/-]*")
_SPACES = re.compile(" +")


@dataclass(frozen=True, slots=True)
class Signed:
    """What is signed of a request."""

    method: str
    path: str
    """Without escapes."""
    bucket_of_host: str | None
    query: Sequence[tuple[str, str]]
    headers: Mapping[str, str]
    """Names in small letters."""
    raw_path: str = ""
    """As it was sent, which some clients sign."""

    @property
    def paths(self) -> Iterator[str]:
        """As they may have been signed."""
        yield (own := quoted_path(self.path))
        if self.raw_path not in ("", own):
            yield self.raw_path


@dataclass(frozen=True, slots=True)
class Seed:
    """From which the signatures of a body's pieces go on."""

    key: bytes
    moment: str
    scope: str
    signature: str

    def next(self, kind: str, text: str) -> "Seed":
        """Of the piece that follows."""
        lines = (f"{ALGORITHM}-{kind}", self.moment, self.scope, self.signature, text)
        return Seed(self.key, self.moment, self.scope, hex_digest(self.key, "\n".join(lines)))


def sign(
    method: str,
    path: str,
    query: Sequence[tuple[str, str]],
    headers: Mapping[str, str],
    payload: str,
    secret: str,
) -> dict[str, str]:
    """The headers with which the operator's own request to the server behind is made."""
    moment = _shown(int(time.time()))
    sent = {**headers, "x-amz-content-sha256": payload, "x-amz-date": moment}
    scope = f"{moment[:8]}/us-east-1/s3/aws4_request"
    key = signing_key(secret, scope)
    names = sorted(name for name in sent if name == "host" or name.startswith("x-amz-"))
    signed = Signed(method, path, None, query, sent)
    signature = signature_of(signed, quoted_path(path), query, names, payload, moment, scope, key)
    sent["authorization"] = (
        f"{ALGORITHM} Credential=root/{scope}, SignedHeaders={';'.join(names)}, "
        f"Signature={signature}"
    )
    return sent


def signature_of(
    signed: Signed,
    path: str,
    query: Sequence[tuple[str, str]],
    names: Sequence[str],
    payload: str,
    moment: str,
    scope: str,
    key: bytes,
) -> str:
    pairs = sorted((_quoted(name), _quoted(value)) for name, value in query)
    headers = "".join(f"{name}:{trimmed(signed.headers.get(name, ''))}\n" for name in names)
    lines = (
        signed.method,
        path,
        "&".join(f"{name}={value}" for name, value in pairs),
        headers,
        ";".join(names),
        payload,
    )
    digest = hashlib.sha256(as_bytes("\n".join(lines))).hexdigest()
    return hex_digest(key, f"{ALGORITHM}\n{moment}\n{scope}\n{digest}")


@lru_cache(maxsize=4096)
def signing_key(secret: str, scope: str) -> bytes:
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, as_bytes(part), hashlib.sha256)
    return key


def hex_digest(key: bytes, text: str) -> str:
    return hmac.digest(key, as_bytes(text), hashlib.sha256).hex()


def _quoted(text: str) -> str:
    """Most of what is quoted has nothing to escape."""
    if _PLAIN.fullmatch(text):
        return text
    return quote(text, safe=_SAFE, errors="surrogateescape")


def quoted_path(path: str) -> str:
    if _PLAIN_PATH.fullmatch(path):
        return path
    return quote(path, safe=f"/{_SAFE}", errors="surrogateescape")


def trimmed(value: str) -> str:
    value = value.strip()
    return _SPACES.sub(" ", value) if "  " in value else value


@lru_cache(maxsize=2)
def _shown(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y%m%dT%H%M%SZ")


def as_bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")
