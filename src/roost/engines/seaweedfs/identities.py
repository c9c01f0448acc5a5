"""The keys of a server, by the gRPC service of its filer.

`weed/pb/iam.proto` has the numbers of the fields.
"""

import base64
import hashlib
import hmac
import json
import time

import grpc
import grpc.aio

from roost.core.engine import EngineError
from roost.engines.seaweedfs.wire import field, fields
from roost.resources.object_storage.engine import KeySpec

_KEYS = "/iam_pb.SeaweedIdentityAccessManagement/"
_SECONDS = 10.0
_TOKEN_SECONDS = 60


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
