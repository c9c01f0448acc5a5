"""The keys of a server, by the gRPC service of its filer.

The messages hold texts only, so that their wire format is written and read here
(https://protobuf.dev/programming-guides/encoding; `weed/pb/iam.proto` has the numbers).
"""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator

import grpc
import grpc.aio

from roost.core.engine import EngineError
from roost.resources.object_storage.engine import KeySpec

_KEYS = "/iam_pb.SeaweedIdentityAccessManagement/"
_FILER = "/filer_pb.SeaweedFiler/"
_SECONDS = 10.0
_TOKEN_SECONDS = 60
_TEXT = 2
"""The wire type of texts and messages."""
_PURGE_SECONDS = 600.0


class Identities:
    """One user and one policy for each key; both have the key's name."""

    def __init__(self, address: str, signing_key: str) -> None:
        self._address = address
        self._signing_key = signing_key

    async def put(self, key: KeySpec, policy: str) -> None:
        """The policy acts at once, also on a user who is there."""
        async with grpc.aio.insecure_channel(self._address) as channel:
            await self._call(channel, "PutPolicy", field(1, key.name) + field(2, policy))
            credential = field(1, key.access_key) + field(2, key.secret_key) + field(3, "Active")
            identity = field(1, key.name) + field(2, credential) + field(7, key.name)
            already = grpc.StatusCode.ALREADY_EXISTS
            await self._call(channel, "CreateUser", field(1, identity), already)

    async def delete(self, name: str) -> None:
        missing = grpc.StatusCode.NOT_FOUND
        async with grpc.aio.insecure_channel(self._address) as channel:
            await self._call(channel, "DeleteUser", field(1, name), missing)
            await self._call(channel, "DeletePolicy", field(1, name), missing)

    async def names(self) -> list[str]:
        async with grpc.aio.insecure_channel(self._address) as channel:
            answer = await self._call(channel, "ListUsers", b"")
        return sorted(value.decode() for number, value in fields(answer) if number == 1)

    async def purge(self, bucket: str) -> None:
        """Delete a bucket with all that it holds."""
        deletion = field(1, "/buckets") + field(2, bucket) + flag(5) + flag(6)
        async with grpc.aio.insecure_channel(self._address) as channel:
            for method, message in (
                ("DeleteEntry", deletion),
                ("DeleteCollection", field(1, bucket)),
            ):
                call = channel.unary_unary(_FILER + method, _same, _same)
                try:
                    await call(message, timeout=_PURGE_SECONDS)
                except grpc.aio.AioRpcError as error:
                    raise EngineError("The object storage does not delete the bucket") from error

    async def _call(
        self,
        channel: grpc.aio.Channel,
        method: str,
        message: bytes,
        harmless: grpc.StatusCode | None = None,
    ) -> bytes:
        call = channel.unary_unary(_KEYS + method, _same, _same)
        header = ("authorization", f"Bearer {_token(self._signing_key)}")
        try:
            answer: bytes = await call(message, timeout=_SECONDS, metadata=(header,))
        except grpc.aio.AioRpcError as error:
            if error.code() == harmless:
                return b""
            raise EngineError("The object storage does not take the key") from error
        return answer


def field(number: int, value: str | bytes) -> bytes:
    """A text or a message as a field of a message."""
    content = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | _TEXT]) + _size(len(content)) + content


def flag(number: int) -> bytes:
    """True as a field of a message."""
    return bytes([number << 3, 1])


def fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The texts and messages of a message that has nothing else. Raises ValueError."""
    place = 0
    while place < len(message):
        number, wire_type = message[place] >> 3, message[place] & 7
        if wire_type != _TEXT:
            raise ValueError("a field is no text")
        size, place = _read_size(message, place + 1)
        yield number, message[place : place + size]
        place += size


def _size(size: int) -> bytes:
    parts = bytearray()
    while size > 0x7F:
        parts.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([*parts, size])


def _read_size(message: bytes, place: int) -> tuple[int, int]:
    size = shift = 0
    while message[place] & 0x80:
        size |= (message[place] & 0x7F) << shift
        place, shift = place + 1, shift + 7
    return size | message[place] << shift, place + 1


def _same(message: bytes) -> bytes:
    return message


def _token(key: str) -> str:
    """A JSON web token (RFC 7519) that holds for a minute."""
    claims = json.dumps({"exp": int(time.time()) + _TOKEN_SECONDS}).encode()
    signed = b".".join(_base64(part) for part in (b'{"alg":"HS256","typ":"JWT"}', claims))
    digest = hmac.digest(key.encode(), signed, hashlib.sha256)
    return (signed + b"." + _base64(digest)).decode()


def _base64(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")
