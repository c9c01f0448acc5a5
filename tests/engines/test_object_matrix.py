"""Who may do what with a bucket: each ACL, kind of caller and call, asked of a real server."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from itertools import product
from typing import get_args
from uuid import uuid4

import pytest

from roost.engines.seaweedfs.own import OwnObjects
from roost.engines.seaweedfs.server import Server
from roost.resources.object_storage.engine import Acl, BucketGrant, BucketSpec, KeySpec, ObjectAcl
from tests.support.s3 import client_of
from tests.support.s3_actions import ACTIONS, Attempt

pytestmark = pytest.mark.seaweedfs

PHOTOS, SECOND, OTHERS, MARK = "photos", "second", "others", "1-20300131"


def _key(
    name: str, *grants: BucketGrant, lists: tuple[str, ...] = (), unlimited: bool = False
) -> KeySpec:
    access_key = f"{name.upper():A<20}".replace("-", "X")
    return KeySpec(name, access_key, name * 8, grants, lists, unlimited=unlimited)


_WRITES, _READS = BucketGrant(PHOTOS, True), BucketGrant(PHOTOS, False)
CALLERS: dict[str, KeySpec | None] = {
    "unlimited": _key("key-1", _WRITES, BucketGrant(SECOND, True), unlimited=True),
    "read-write": _key("key-2", _WRITES, lists=(SECOND,)),
    "read-only": _key("key-3", _READS, lists=(SECOND,)),
    "without": _key("key-4", lists=(PHOTOS, SECOND)),
    "other": _key("key-5", BucketGrant(OTHERS, True), unlimited=True),
    "anonymous": None,
}
OWN = {"unlimited": SECOND, "read-write": PHOTOS, "other": OTHERS}
"""Where a caller may write."""
EVERYBODY = frozenset(CALLERS)
KEYS = EVERYBODY - {"anonymous"}
ACCOUNT = KEYS - {"other"}
READERS, WRITERS = ACCOUNT - {"without"}, frozenset({"unlimited", "read-write"})
READ: dict[Acl, frozenset[str]] = {
    "private": READERS,
    "public-read": EVERYBODY,
    "authenticated-read": KEYS,
    "public-read-write": EVERYBODY,
}
WRITE: dict[Acl, frozenset[str]] = {
    "private": WRITERS,
    "public-read": WRITERS,
    "authenticated-read": WRITERS,
    "public-read-write": EVERYBODY,
}

_LOOKS = (
    *("location", "list uploads", "get tags"),
    *("get bucket acl", "get object acl", "get policy"),
)
_READ = (
    "list",
    "list v2",
    "list versions",
    "head bucket",
    "get",
    "head",
    "get range",
    "get by url",
)
_COPIES = ("copy from", "copy part from")
_CHANGES = (
    *("put", "put by url", "copy to", "delete", "delete many", "multipart"),
    *("part of others", "abort of others"),
)
_SPARED = frozenset({*_LOOKS, *_READ, *_COPIES, "list buckets", "delete policy"})
"""Actions after which objects are as before."""


def allowed(action: str, acl: Acl) -> frozenset[str]:
    """What the documentation says of it; all that is not named is the API's alone."""
    if action == "list buckets":
        return ACCOUNT
    if action in _LOOKS:
        return READERS
    if action in ("put tags", "delete policy"):
        return WRITERS
    if action == "put policy":  # Which "delete policy" ends, as it comes next.
        return frozenset({"unlimited"})
    if action in ("put bucket acl", "put object acl"):
        return WRITERS if acl == "public-read" else frozenset()  # To what it is already.
    if action in _READ:
        return READ[acl]
    if action in _COPIES:
        return READ[acl] & OWN.keys()
    if action == "parts of others":
        return READERS | WRITE[acl]
    return WRITE[acl] if action in _CHANGES else frozenset()


@pytest.fixture(scope="module")
async def engine(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OwnObjects]:
    engine = OwnObjects(Server(tmp_path_factory.mktemp("seaweedfs") / "objects"))
    await engine.put_bucket(BucketSpec(OTHERS, MARK, "private", False))
    hidden = ("key-2", "key-3", "key-4")
    await engine.put_bucket(BucketSpec(SECOND, MARK, "private", False, listed_by=hidden))
    await engine.put_bucket(BucketSpec(PHOTOS, MARK, "private", False, listed_by=("key-4",)))
    for key in CALLERS.values():
        if key is not None:
            await engine.put_key(key)
    yield engine
    await engine.shut_down()


async def _nothing() -> None:
    """The objects have the ACL of their bucket."""


async def tried(
    engine: OwnObjects, actions: Iterable[str], give: Callable[[], Awaitable[None]] = _nothing
) -> tuple[dict[str, set[str]], int]:
    """By whom each action came to pass, and the number of requests that were made for it. `give`:
    ACLs to what was put."""
    seen, requests, spoilt = dict[str, set[str]](), 0, True
    async with client_of(await engine.endpoint(), CALLERS["unlimited"]) as owner:
        for name, (who, key) in product(actions, CALLERS.items()):
            if spoilt:
                for each in ("a", "b", "c"):
                    assert await owner.status("PUT", f"{PHOTOS}/{each}", b"content") == 200
                await give()
            async with client_of(owner.url, key) as caller:
                attempt = Attempt(caller, owner, PHOTOS, OWN.get(who, "of-nobody"))
                passed = await ACTIONS[name](attempt)
            seen.setdefault(name, set()).update({who} if passed else ())
            requests += attempt.requests
            spoilt = passed and name not in _SPARED
    return seen, requests


@pytest.mark.spec("A object storage 8 buckets", "A object storage 8 limited")
@pytest.mark.parametrize("acl", get_args(Acl))
async def test_buckets(engine: OwnObjects, acl: Acl) -> None:
    """With `pytest -s` it prints what was seen."""
    await engine.put_bucket(BucketSpec(PHOTOS, MARK, acl, False, listed_by=("key-4",)))
    seen, requests = await tried(engine, ACTIONS)
    for name, found in seen.items():
        print(f"{acl:20}{name:20}", *(who if who in found else "-" for who in CALLERS))  # noqa: T201
    print(f"{requests} requests")  # noqa: T201
    assert seen == {name: allowed(name, acl) for name in ACTIONS}
    assert requests >= len(ACTIONS) * len(CALLERS)


_OBJECT = ("get", "head", "copy from", "copy to", "put with acl", "put object acl", "delete")


@pytest.mark.parametrize("acl", get_args(Acl))
@pytest.mark.parametrize("around", ["private", "public-read-write"])
async def test_objects_with_an_acl_of_their_own(engine: OwnObjects, acl: Acl, around: Acl) -> None:
    """It holds in place of the bucket's, until the object is written anew."""

    async def give() -> None:
        own = {name: ObjectAcl(acl, uuid4().hex) for name in ("a", "b", "c")}
        await engine.put_bucket(BucketSpec(PHOTOS, MARK, around, False, own, ("key-4",)))

    seen, _ = await tried(engine, _OBJECT, give)
    wanted = {name: allowed(name, acl) for name in _OBJECT}
    assert seen == {**wanted, "copy to": wanted["copy to"] & READ[acl]}
