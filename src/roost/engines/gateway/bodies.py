"""Bodies of requests as they are read: nothing is taken as whole before it is what was signed.

The last piece is held back until then, so that the server behind never has a whole body of which
some check has failed, and stores nothing.
"""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

from roost.engines.gateway.faults import S3Error, invalid
from roost.engines.gateway.http import Inbox
from roost.engines.gateway.signatures import STREAMS, Caller
from roost.engines.gateway.signing import UNSIGNED, Seed

FRAME = 64 * 1024
_MOST_PIECE = 16 * 1024 * 1024
_MOST_LINE = 4096
_MOST_TRAILER = 16 * 1024
_HEX = re.compile("[0-9a-f]{64}")
_EMPTY = hashlib.sha256(b"").hexdigest()
_KINDS = frozenset(
    (
        "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
        "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
        "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
    )
)
_CHECKSUMS = {
    "x-amz-checksum-crc32": 4,
    "x-amz-checksum-crc32c": 4,
    "x-amz-checksum-crc64nvme": 8,
    "x-amz-checksum-sha1": 20,
    "x-amz-checksum-sha256": 32,
}
"""Bytes of each."""


@dataclass(slots=True)
class Body:
    """What is sent, without the frames in which it comes."""

    length: int
    pieces: AsyncIterator[bytes]
    trailer: dict[str, str] = field(default_factory=dict)
    """Full when the pieces are at their end."""
    checksum: str | None = None
    """The name of the one that comes after the pieces."""

    @property
    def framed_length(self) -> int:
        """Bytes of `framed`."""
        assert self.checksum is not None
        whole, rest = divmod(self.length, FRAME)
        frames = whole * (len(f"{FRAME:x}") + FRAME + 4)
        if rest:
            frames += len(f"{rest:x}") + rest + 4
        digest = len(base64.b64encode(bytes(_CHECKSUMS[self.checksum])))
        return frames + len("0\r\n") + len(self.checksum) + 1 + digest + len("\r\n\r\n")

    async def framed(self) -> AsyncIterator[bytes]:
        """With the checksum behind, for the server that verifies it."""
        assert self.checksum is not None
        kept = bytearray()
        async for piece in self.pieces:
            kept += piece
            while len(kept) >= FRAME:
                yield b"%x\r\n%b\r\n" % (FRAME, bytes(kept[:FRAME]))
                del kept[:FRAME]
        if kept:
            yield b"%x\r\n%b\r\n" % (len(kept), bytes(kept))
        yield f"0\r\n{self.checksum}:{self.trailer[self.checksum]}\r\n\r\n".encode()


def opened(inbox: Inbox, headers: Mapping[str, str], caller: Caller) -> Body:
    """Raises S3Error for what cannot be a body."""
    sent = headers.get("content-length")
    md5 = _md5(headers)
    if caller.payload.startswith(STREAMS):
        return _streamed(inbox, headers, caller, md5)
    if sent is None:
        if "transfer-encoding" in headers:
            raise S3Error(411, "MissingContentLength", "You must provide the Content-Length header")
        sent = "0"
    wanted = None if caller.payload == UNSIGNED else caller.payload.lower()
    if wanted is not None and not _HEX.fullmatch(wanted):
        raise invalid("x-amz-content-sha256 must be UNSIGNED-PAYLOAD, a stream or a SHA-256")
    return Body(int(sent), _checked(_plain(inbox), int(sent), _Digests(wanted, md5)))


async def whole(body: Body, most: int) -> bytes:
    """All of a small one. Raises S3Error."""
    if body.length > most:
        raise invalid("Your request was too big.", "EntityTooLarge")
    return b"".join([piece async for piece in body.pieces])


def _streamed(inbox: Inbox, headers: Mapping[str, str], caller: Caller, md5: bytes | None) -> Body:
    if caller.payload not in _KINDS:
        raise S3Error(501, "NotImplemented", f"{caller.payload} is not implemented")
    if not caller.payload.endswith("-TRAILER") and "x-amz-trailer" in headers:
        raise invalid("x-amz-trailer needs a stream with a trailer", "InvalidRequest")
    if "UNSIGNED" not in caller.payload and caller.seed is None:
        raise invalid("A stream is signed by the Authorization header", "InvalidRequest")
    said = headers.get("x-amz-decoded-content-length", "")
    if not said.isdecimal() or len(said) > 15:
        message = "You must provide x-amz-decoded-content-length"
        raise S3Error(411, "MissingContentLength", message)
    trailers = [each.strip().lower() for each in headers.get("x-amz-trailer", "").split(",")]
    known = [each for each in trailers if each in _CHECKSUMS]
    if any(trailers) and len(known) != len(trailers):
        raise invalid("The value specified in the x-amz-trailer header is not supported")
    found = dict[str, str]()
    signed = None if "UNSIGNED" in caller.payload else caller.seed
    pieces = _unframed(inbox, signed, "TRAILER" in caller.payload, found, known)
    body = Body(int(said), _checked(pieces, int(said), _Digests(None, md5)), found)
    body.checksum = known[0] if known else None
    return body


class _Digests:
    """The digests of what has come, against those that were said."""

    def __init__(self, sha256: str | None, md5: bytes | None) -> None:
        self._wanted, self._wanted_md5 = sha256, md5
        self._sha256 = None if sha256 is None else hashlib.sha256()
        self._md5 = None if md5 is None else hashlib.md5(usedforsecurity=False)

    def update(self, piece: bytes) -> None:
        if self._sha256 is not None:
            self._sha256.update(piece)
        if self._md5 is not None:
            self._md5.update(piece)

    def check(self) -> None:
        if self._sha256 is not None and self._sha256.hexdigest() != self._wanted:
            message = "The provided 'x-amz-content-sha256' header does not match what was computed."
            raise S3Error(400, "XAmzContentSHA256Mismatch", message)
        if self._md5 is not None and self._md5.digest() != self._wanted_md5:
            message = "The Content-MD5 you specified did not match what we received."
            raise S3Error(400, "BadDigest", message)


async def _checked(
    pieces: AsyncIterator[bytes], length: int, digests: _Digests
) -> AsyncIterator[bytes]:
    """All but the last piece as they come, and that one when everything is right."""
    seen, kept = 0, b""
    async for piece in pieces:
        if kept:
            yield kept
        seen += len(piece)
        if seen > length:
            break
        digests.update(piece)
        kept = piece
    if seen != length:
        raise _incomplete()
    digests.check()
    if kept:
        yield kept


async def _plain(inbox: Inbox) -> AsyncIterator[bytes]:
    try:
        while piece := await inbox.any():
            yield piece
    except ConnectionError as error:
        raise _incomplete() from error


async def _unframed(
    inbox: Inbox,
    seed: Seed | None,
    has_trailer: bool,
    found: dict[str, str],
    wanted: list[str],
) -> AsyncIterator[bytes]:
    """The pieces of `aws-chunked`, each with a signature where they are signed."""
    try:
        while True:
            size, signature = _frame(await _line(inbox))
            piece = await inbox.exactly(size) if size else b""
            if seed is not None:
                text = f"{_EMPTY}\n{hashlib.sha256(piece).hexdigest()}"
                seed = seed.next("PAYLOAD", text)
                _compare(seed, signature)
            if not size:
                break
            if await inbox.exactly(2) != b"\r\n":
                raise _incomplete()
            yield piece
        if has_trailer:
            await _read_trailer(inbox, seed, found, wanted)
    except (EOFError, ConnectionError) as error:
        raise _incomplete() from error


async def _read_trailer(
    inbox: Inbox, seed: Seed | None, found: dict[str, str], wanted: list[str]
) -> None:
    """Lines until an empty one, or the end."""
    signature, seen = None, 0
    while line := await inbox.line():
        seen += len(line)
        if seen > _MOST_TRAILER:
            raise invalid("The trailer is too long", "MalformedTrailerError")
        text = line.strip().decode("latin-1")
        if not text:
            continue
        name, _, value = text.partition(":")
        if name.lower() == "x-amz-trailer-signature":
            signature = value.strip()
        else:
            found[name.strip().lower()] = value.strip()
    missing = [each for each in wanted if each not in found]
    if missing or set(found) - set(wanted):
        raise invalid("The trailer is not what x-amz-trailer says", "MalformedTrailerError")
    for name, value in found.items():
        _check_form(name, value)
    if seed is not None and (found or signature is not None):
        lines = "".join(f"{name}:{value}\n" for name, value in sorted(found.items()))
        _compare(seed.next("TRAILER", hashlib.sha256(lines.encode()).hexdigest()), signature)


def _check_form(name: str, value: str) -> None:
    with_wrong_form = invalid(f"Value for {name} trailing header is invalid.", "InvalidRequest")
    try:
        if len(base64.b64decode(value, validate=True)) != _CHECKSUMS[name]:
            raise with_wrong_form
    except (binascii.Error, ValueError):
        raise with_wrong_form from None


def _frame(line: bytes) -> tuple[int, str | None]:
    """Bytes of the piece, and its signature."""
    size, _, rest = line.partition(b";")
    try:
        number = int(size.strip(), 16)
    except ValueError:
        raise _incomplete() from None
    if not 0 <= number <= _MOST_PIECE:
        raise invalid("A piece of the body is too large", "InvalidChunkSizeError")
    name, _, value = rest.strip().partition(b"=")
    return number, value.decode("latin-1") if name == b"chunk-signature" else None


async def _line(inbox: Inbox) -> bytes:
    line = await inbox.line()
    if len(line) > _MOST_LINE or not line.endswith(b"\n"):
        raise _incomplete()
    return line


def _compare(seed: Seed, got: str | None) -> None:
    if got is None or not hmac.compare_digest(seed.signature.encode(), got.encode()):
        message = "The signature of a piece of the body does not match"
        raise S3Error(403, "SignatureDoesNotMatch", message)


def _md5(headers: Mapping[str, str]) -> bytes | None:
    text = headers.get("content-md5")
    if text is None:
        return None
    try:
        digest = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        digest = b""
    if len(digest) != 16:
        raise invalid("The Content-MD5 you specified is not valid.", "InvalidDigest")
    return digest


def _incomplete() -> S3Error:
    message = "You did not provide the number of bytes specified by the Content-Length HTTP header"
    return S3Error(400, "IncompleteBody", message)
