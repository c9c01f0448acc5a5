"""The keys of a server, by the gRPC service of its filer.

`weed/pb/iam.proto` has the numbers of the fields.
"""

import base64
import hashlib
import hmac
import json
import time

from roost.engines.seaweedfs.calls import CallError, Calls, Status, connected
from roost.engines.seaweedfs.wire import field, fields, first
from roost.resources.object_storage.engine import KeySpec

_KEYS = "/iam_pb.SeaweedIdentityAccessManagement/"
_DOING = "The object storage does not take the key"
_SECONDS = 10.0
_TOKEN_SECONDS = 60


class Identities:
    """One user and one policy for each key; both have the key's name."""

    def __init__(self, address: str, signing_key: str) -> None:
        self._address = address
        self._signing_key = signing_key

    async def put(self, key: KeySpec, policy: str) -> None:
        """Whoever had the name before has no more than the key."""
        credential = field(1, key.access_key) + field(2, key.secret_key) + field(3, "Active")
        identity = field(1, key.name) + field(2, credential) + field(7, key.name)
        async with connected(self._address) as calls:
            await self._call(calls, "PutPolicy", field(1, key.name) + field(2, policy))
            already = Status.ALREADY_EXISTS
            made = await self._call(calls, "CreateUser", field(1, identity), already)
            if made is None:
                changed = field(1, key.name) + field(2, identity)
                await self._call(calls, "UpdateUser", changed)

    async def delete(self, name: str) -> tuple[str, str] | None:
        """What opened it, access key and secret; None when there was none."""
        missing = Status.NOT_FOUND
        async with connected(self._address) as calls:
            found = await self._call(calls, "GetUser", field(1, name), missing)
            await self._call(calls, "DeleteUser", field(1, name), missing)
            await self._call(calls, "DeletePolicy", field(1, name), missing)
        credential = first(first(found or b"", 1) or b"", 2)
        if credential is None:
            return None
        access_key, secret = first(credential, 1) or b"", first(credential, 2) or b""
        return access_key.decode(), secret.decode()

    async def names(self) -> list[str]:
        async with connected(self._address) as calls:
            answer = await self._call(calls, "ListUsers", b"")
        return sorted(value.decode() for number, value in fields(answer or b"") if number == 1)

    async def _call(
        self,
        calls: Calls,
        method: str,
        message: bytes,
        harmless: Status | None = None,
    ) -> bytes | None:
        """None for what is harmless."""
        header = {"authorization": f"Bearer {_token(self._signing_key)}"}
        try:
            return await calls.ask(_DOING, _KEYS + method, message, _SECONDS, header)
        except CallError as error:
            if harmless is None or error.status is not harmless:
                raise
            return None


def _token(key: str) -> str:
    """A JSON web token (RFC 7519) that holds for a minute."""
    claims = json.dumps({"exp": int(time.time()) + _TOKEN_SECONDS}).encode()
    signed = b".".join(_base64(part) for part in (b'{"alg":"HS256","typ":"JWT"}', claims))
    digest = hmac.digest(key.encode(), signed, hashlib.sha256)
    return (signed + b"." + _base64(digest)).decode()


def _base64(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")
