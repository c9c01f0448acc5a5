"""What object storage needs from a data plane.

PostgreSQL holds the truth: every call that makes something carries the whole of it, and every
method is idempotent. Whoever holds a key has no more access than its grants and the buckets' ACLs
give: no call of the S3 kind changes keys, ACLs or the list of buckets. All may raise EngineError.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

from roost.core.engine import EngineError, Health

Acl = Literal["private", "public-read", "authenticated-read", "public-read-write"]


class NotEmptyError(EngineError):
    """The bucket holds objects."""

    lasting = True


@dataclass(frozen=True, slots=True)
class BucketSpec:
    """A bucket as it should be."""

    name: str
    """As S3 clients call it."""
    acl: Acl
    cors_enabled: bool
    """Whether pages of any origin may use it; pages of none may otherwise."""


@dataclass(frozen=True, slots=True)
class BucketGrant:
    """What a key may do with the objects of a bucket."""

    bucket: str
    writes: bool


@dataclass(frozen=True, slots=True)
class KeySpec:
    """A key as it should be."""

    name: str
    """By which the engine knows it, such as `key-100001`."""
    access_key: str
    secret_key: str
    grants: tuple[BucketGrant, ...]


class ObjectEngine(Protocol):
    """An S3 server for the buckets of one region."""

    @property
    def name(self) -> str: ...

    async def endpoint(self) -> str:
        """The URL at which S3 clients reach it."""

    async def put_bucket(self, bucket: BucketSpec) -> None:
        """Make the bucket, or let it have this ACL and CORS; its objects stay."""

    async def is_empty(self, bucket: str) -> bool:
        """True also of one that does not exist."""

    async def delete_bucket(self, bucket: str) -> None:
        """Nothing happens where there is none. NotEmptyError while it holds objects."""

    async def buckets(self) -> list[str]:
        """All by name."""

    async def put_key(self, key: KeySpec) -> None:
        """The key exists, with these grants and no others."""

    async def delete_key(self, name: str) -> None:
        """It opens nothing from now on, and neither do URLs that were signed with it."""

    async def keys(self) -> list[str]:
        """The names of all by name."""

    async def health(self) -> Health: ...

    async def shut_down(self) -> None:
        """Stop serving; what is stored is kept."""

    async def close(self) -> None:
        """Let go of the data plane, which goes on."""
