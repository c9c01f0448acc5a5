"""What object storage needs from a data plane.

PostgreSQL holds the truth: every call that makes something carries the whole of it, and every
method is idempotent. A name may have another owner tomorrow, a mark never has: the server keeps the
mark of the row with each bucket, and what it has under the name with another one is another's.
Whoever holds a key has no more access than its grants and the buckets' ACLs and policies
give: no call of the S3 kind changes keys, ACLs or settings of buckets, but for policies, which end
with their bucket. One makes buckets, which nobody can use before Roost has taken them up (`made`).
All may raise EngineError.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from roost.core.engine import EngineError, Health
from roost.core.planes import Plane

Acl = Literal["private", "public-read", "authenticated-read", "public-read-write"]


class NotEmptyError(EngineError):
    """The bucket holds objects."""

    lasting = True


class TakenError(EngineError):
    """The server has something under the name of a bucket that is not of its row."""

    lasting = True


@dataclass(frozen=True, slots=True)
class ObjectAcl:
    """The ACL of an object, which ends when that is deleted or written anew."""

    acl: Acl
    given: str
    """Another one each time that an object is given an ACL."""


@dataclass(frozen=True, slots=True)
class BucketSpec:
    """A bucket as it should be."""

    name: str
    """As S3 clients call it."""
    mark: str
    """Another one for each row, also of one that has the name later."""
    acl: Acl
    cors_enabled: bool
    """Whether pages of any origin may use it; pages of none may otherwise."""
    objects: Mapping[str, ObjectAcl] = field(default_factory=dict)
    """Objects with an ACL of their own, which holds in place of the bucket's. Their names have no
    character that means something in policies (`rules.check_acl_name`)."""
    listed_by: tuple[str, ...] = ()
    """The names of keys that list it among the buckets, and may do no more with it than others."""
    is_new: bool = False
    """Whether the server never had it, so that nothing which is there can belong to it."""


@dataclass(frozen=True, slots=True)
class HeldBucket:
    """What a server has under a name."""

    mark: str | None
    """None: it was made by an S3 client, or by an object that came when its bucket was gone."""
    maker: str | None
    """The name of the key, or of whatever else an S3 client made it with, if one did."""
    lost: bool = False
    """Whether it is known by name alone, and nothing of what it held is there."""


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
    lists: tuple[str, ...] = ()
    """Buckets that it lists among its own, and may do no more with than others (`listed_by`, which
    is put first)."""
    makes: bool = True
    """Whether it may make buckets."""
    unlimited: bool = False
    """Whether it opens all buckets of its account, and so may set their policies."""


@dataclass(frozen=True, slots=True)
class MadeBucket:
    """One that an S3 client has made."""

    name: str
    key: str
    """The name of the key with which it was made."""


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object as a list shows it; of a common prefix nothing but its name is known."""

    name: str
    etag: str | None = None
    modified: datetime | None = None
    """UTC"""
    size: int | None = None
    """Bytes"""


@dataclass(frozen=True, slots=True)
class ObjectPage:
    """Some objects of a bucket."""

    objects: tuple[StoredObject, ...]
    next_marker: str | None
    """From where to go on; None at the end."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which objects to list."""

    limit: int
    marker: str = ""
    """Only what comes after it."""
    prefix: str = ""
    delimiter: str = ""
    """What is the same from the prefix to the next one is shown as one."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a bucket holds."""

    objects: int
    size: int
    """Bytes, with those of uploads in parts that are not complete."""


@dataclass(frozen=True, slots=True)
class Share:
    """How much more an account may store."""

    buckets: tuple[str, ...]
    """Its own of the region."""
    left: int
    """Bytes, after what `usage` has said of them last; below zero: it has too much already."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a server has sent to clients since it started."""

    since: str
    """Another text after each start."""
    sent: Mapping[str, int]
    """Bytes, by bucket."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What a pre-signed URL is for."""

    bucket: str
    mark: str
    """Of the bucket: under the same name the URL opens no other one."""
    name: str
    method: Literal["GET", "PUT", "DELETE", "POST"]
    """POST begins an upload by parts, or completes one."""
    seconds: int
    content_type: str | None = None
    """What must be sent as Content-Type."""
    upload: str | None = None
    """The upload by parts, as S3 calls it, that it goes on with, completes or aborts."""
    part: int | None = None
    """The part of it that is put."""

    @property
    def query(self) -> Mapping[str, str]:
        """Of the S3 call, beside the signature."""
        if self.upload is None:
            return {"uploads": ""} if self.method == "POST" else {}
        part = {} if self.part is None else {"partNumber": str(self.part)}
        return {**part, "uploadId": self.upload}


class Door(Protocol):
    """What an engine asks of Roost when an S3 client comes where no server runs yet. All may raise
    EngineError."""

    async def knows(self, access_key: str) -> bool:
        """Whether an account has a key with it."""

    async def bring_keys(self) -> None:
        """Put all keys that the server should have and has not."""


class ObjectEngine(Protocol):
    """An S3 server for the buckets of one region."""

    @property
    def name(self) -> str: ...

    async def endpoint(self) -> str:
        """The URL at which S3 clients reach it."""

    async def address(self) -> str | None:
        """The IP address of that, also before it serves; None: it has none."""

    async def put_bucket(self, bucket: BucketSpec) -> None:
        """Make the bucket, or let it have this ACL and CORS; its objects stay. TakenError while the
        server has something under its name that has another mark, or no mark and objects which were
        there before a new one."""

    async def put_access(self, bucket: BucketSpec) -> None:
        """Put the access to a bucket alone; nothing happens where there is no such bucket."""

    async def attend(self, door: Door) -> None:
        """Answer S3 clients while no server does, and start it for those who have a key; until this
        is cancelled. It returns where a server always runs, or never."""

    def made(self) -> AsyncGenerator[MadeBucket, None]:
        """What S3 clients make, as they do so; it may end at any time, and tell too much."""

    async def is_empty(self, bucket: str) -> bool:
        """True also of one that does not exist."""

    async def has_object(self, bucket: str, name: str) -> bool: ...

    async def ended_acls(self, bucket: str) -> frozenset[str]:
        """What was `given` (`ObjectAcl`) to objects that were deleted or written anew since."""

    async def list_objects(self, bucket: str, wanted: Wanted) -> ObjectPage:
        """Nothing of a bucket that does not exist."""

    async def usage(self, bucket: str) -> Usage:
        """Nothing of a bucket that does not exist. It takes the longer, the more is there."""

    async def set_shares(self, shares: Sequence[Share]) -> None:
        """Set the shares of accounts whose limit is within reach; others may store what they like.

        Clients that would store more are refused, and read and delete on.
        """

    async def traffic(self) -> Traffic: ...

    async def sign(self, signature: Signature) -> str:
        """A URL that may do so much with a bucket that exists, and nothing with others."""

    async def end_uploads(self, bucket: str, before: datetime) -> None:
        """Forget the parts of uploads that began before then (UTC) and are not complete."""

    async def close_bucket(self, bucket: BucketSpec) -> None:
        """Nobody gets in by any key, ACL or signed URL until it is put again, and what had begun
        before has ended, unless it takes more than some seconds. Nothing happens where there is
        none."""

    async def delete_bucket(self, bucket: str, mark: str) -> None:
        """Delete a closed one. NotEmptyError while it holds objects, also such as have come into
        its place after it was gone. Nothing happens where there is none, or another's."""

    async def purge_bucket(self, bucket: str, mark: str | None) -> None:
        """Delete what has the name and this mark, or has none, with all that it holds. Nothing
        happens where there is none."""

    async def buckets(self) -> Mapping[str, HeldBucket]:
        """All by name."""

    async def takes_keys(self) -> bool:
        """Whether keys are put without starting a server for them alone."""

    async def put_key(self, key: KeySpec) -> None:
        """The key exists, with these grants and no others, and opens what it should from now on."""

    async def delete_key(self, name: str) -> None:
        """It opens nothing from now on, and neither do URLs that were signed with it."""

    async def keys(self) -> list[str]:
        """The names of all by name."""

    async def health(self) -> Health: ...

    async def keep_serving(self) -> None:
        """Serve clients, if it holds anything for them."""

    async def shut_down(self) -> None:
        """Stop serving; what is stored is kept."""

    async def close(self) -> None:
        """Let go of the data plane, which goes on."""


OBJECT_PLANE: Plane[ObjectEngine] = Plane("objects")
