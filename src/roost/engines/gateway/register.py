"""The buckets and keys of a region as the control plane wants them, in memory and in a file.

What was put is in force for the next request, and still there after any end of the process.
"""

import asyncio
import json
import secrets
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from roost.threads import DISK

Acl: TypeAlias = Literal["private", "public-read", "authenticated-read", "public-read-write"]
Kind: TypeAlias = Literal["bucket", "key", "trash", "legacy", "settled"]

_Change: TypeAlias = tuple[Kind, str, Mapping[str, object] | None]
"""What is held of a name from now on; None: nothing."""
_HELD: Mapping[str, object] = {}
_SCHEMA = (
    "create table if not exists held"
    " (kind text not null, name text not null, value text not null, primary key (kind, name))"
)


@dataclass(frozen=True, slots=True)
class OwnAcl:
    """That of an object."""

    acl: Acl
    given: str
    """By which the control plane knows it."""
    seen: str | None
    """What the object was to be told from a later one of its name; None: not known."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """One that exists."""

    label: str
    """As clients call it."""
    place: str
    """As the server behind does: no other bucket ever has the same."""
    created: float
    signer: str
    """The access key by which URLs are signed."""
    signer_secret: str
    mark: str = ""
    """The mark of its row: another one of the same label has another."""
    closed: bool = False
    """Whether nobody gets in, as it is going to be deleted."""
    acl: Acl = "private"
    cors: bool = False
    objects: Mapping[str, OwnAcl] = field(default_factory=dict)
    ended: tuple[str, ...] = ()
    """What was given to objects that are no more, as long as the control plane names it."""
    moving_from: str | None = None
    """The bucket of the server behind in which its objects still have the names of folders."""
    policy: str | None = None
    """As it was sent."""

    def acl_of(self, name: str | None) -> Acl:
        own = None if name is None else self.objects.get(name)
        return self.acl if own is None else own.acl


@dataclass(frozen=True, slots=True)
class Key:
    """One that opens what it names."""

    name: str
    access_key: str
    secret_key: str
    grants: Mapping[str, bool] = field(default_factory=dict)
    """By bucket, whether it may write."""
    lists: tuple[str, ...] = ()
    makes: bool = False
    unlimited: bool = False
    """Whether it opens all buckets of its account."""


class Register:
    """Its methods run on one event loop."""

    def __init__(self, file: Path) -> None:
        self._database = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        self._database.execute("pragma journal_mode = wal")
        self._database.execute("pragma synchronous = full")
        self._database.execute(_SCHEMA)
        self.is_new = not self._database.execute(
            "select 1 from held where kind = 'settled'"
        ).fetchall()
        self._writing = asyncio.Lock()
        self._changing = asyncio.Lock()
        self.buckets: dict[str, Bucket] = {}
        self.keys: dict[str, Key] = {}
        self._by_access_key: dict[str, Key] = {}
        self._signers: dict[str, Bucket] = {}
        self.trash: set[str] = set()
        """Places that nobody knows any more, and which are to be emptied."""
        self.legacy: set[str] = set()
        """Buckets of the server behind from before there was a register."""
        for kind, name, value in self._database.execute("select kind, name, value from held"):
            self._take(kind, name, json.loads(value))

    def close(self) -> None:
        self._database.close()

    def key_of(self, access_key: str) -> Key | None:
        return self._by_access_key.get(access_key)

    def secret_of(self, access_key: str) -> str | None:
        """The secret of a key, or of a bucket's own."""
        if (key := self._by_access_key.get(access_key)) is not None:
            return key.secret_key
        signer = self._signers.get(access_key)
        return None if signer is None else signer.signer_secret

    def signed_bucket(self, access_key: str) -> Bucket | None:
        """Whose own key it is."""
        return self._signers.get(access_key)

    async def set_bucket(
        self, label: str, mark: str, acl: Acl, *, cors: bool, objects: Mapping[str, OwnAcl]
    ) -> Bucket:
        """Make it, or let it have this ACL and be open. What was given to an object once is known
        already, or is over with it."""
        async with self._changing:
            bucket = self.buckets.get(label)
            if bucket is None:
                old = label if label in self.legacy else None
                bucket = Bucket(
                    label,
                    f"b-{secrets.token_hex(12)}",
                    time.time(),
                    f"SIGN{secrets.token_hex(8).upper()}",
                    secrets.token_hex(24),
                    mark,
                    moving_from=old,
                )
            ended = tuple(each for each in bucket.ended if each in _given(objects))
            own = {name: each for name, each in objects.items() if each.given not in ended}
            own |= {
                name: each
                for name, each in bucket.objects.items()
                if name in own and own[name].given == each.given
            }
            bucket = replace(bucket, closed=False, acl=acl, cors=cors, objects=own, ended=ended)
            await self._change(("bucket", label, asdict(bucket)))
        return bucket

    async def end_acl(self, bucket: Bucket, name: str) -> Bucket:
        """An object with an ACL of its own is no more; the bucket without that."""
        async with self._changing:
            current = self.buckets.get(bucket.label)
            if current is None or current.place != bucket.place or name not in current.objects:
                return replace(bucket, objects=_others(bucket.objects, name))
            ended = (*current.ended, current.objects[name].given)
            current = replace(current, objects=_others(current.objects, name), ended=ended)
            await self._change(("bucket", current.label, asdict(current)))
        return current

    async def set_policy(self, bucket: Bucket, policy: str | None) -> bool:
        """Whether the bucket is still there to have it."""
        async with self._changing:
            current = self.buckets.get(bucket.label)
            if current is None or current.place != bucket.place or current.closed:
                return False
            await self._change(("bucket", current.label, asdict(replace(current, policy=policy))))
        return True

    async def close_bucket(self, bucket: Bucket) -> None:
        """Also after a restart."""
        async with self._changing:
            current = self.buckets.get(bucket.label)
            if current is not None and current.place == bucket.place:
                value = asdict(replace(current, closed=True))
                await self._change(("bucket", bucket.label, value))

    async def moved(self, bucket: Bucket) -> None:
        """Its objects have their names now, and what is left of the old ones can go."""
        assert bucket.moving_from is not None
        async with self._changing:
            changes: list[_Change] = [
                ("trash", bucket.moving_from, _HELD),
                ("legacy", bucket.moving_from, None),
            ]
            current = self.buckets.get(bucket.label)
            if current is not None and current.place == bucket.place:
                value = asdict(replace(current, moving_from=None))
                changes.append(("bucket", bucket.label, value))
            await self._change(*changes)

    async def remove_bucket(self, bucket: Bucket) -> None:
        """No key keeps a grant by its label, which another account may have next."""
        changes: list[_Change] = [
            ("trash", bucket.place, _HELD),
            ("bucket", bucket.label, None),
        ]
        if bucket.moving_from is not None:
            changes.append(("trash", bucket.moving_from, _HELD))
            changes.append(("legacy", bucket.moving_from, None))
        async with self._changing:
            await self._change(*changes, *self._without(bucket.label))

    def _without(self, label: str) -> list[_Change]:
        """Keys that named the bucket, and do so no more."""
        return [
            ("key", key.name, asdict(_less(key, label)))
            for key in self.keys.values()
            if label in key.grants or label in key.lists
        ]

    async def forget_trash(self, place: str) -> None:
        await self._change(("trash", place, None))

    async def set_legacy(self, labels: list[str]) -> None:
        changes: list[_Change] = [("legacy", label, _HELD) for label in labels]
        await self._change(*changes, ("settled", "", _HELD))

    async def set_key(self, key: Key) -> None:
        await self._change(("key", key.name, asdict(key)))

    async def remove_key(self, name: str) -> None:
        await self._change(("key", name, None))

    async def _change(self, *changes: _Change) -> None:
        """All of them, or none."""
        async with self._writing:
            for kind, name, value in changes:
                if value is None:
                    self._forget(kind, name)
            await DISK.run(self._write, changes)
            for kind, name, value in changes:
                if value is not None:
                    self._take(kind, name, json.loads(json.dumps(value)))

    def _write(self, changes: Sequence[_Change]) -> None:
        with self._database:
            self._database.execute("begin")
            for kind, name, value in changes:
                if value is None:
                    statement = "delete from held where kind = ? and name = ?"
                    self._database.execute(statement, (kind, name))
                else:
                    statement = "insert or replace into held (kind, name, value) values (?, ?, ?)"
                    self._database.execute(statement, (kind, name, json.dumps(value)))

    def _take(self, kind: str, name: str, value: dict[str, object]) -> None:
        self._forget(kind, name)
        if kind == "bucket":
            bucket = _bucket(value)
            self.buckets[name] = bucket
            self._signers[bucket.signer] = bucket
        elif kind == "key":
            key = Key(**{**value, "lists": tuple(value["lists"])})  # type: ignore[arg-type]
            self.keys[name] = key
            self._by_access_key[key.access_key] = key
        elif kind == "trash":
            self.trash.add(name)
        elif kind == "legacy":
            self.legacy.add(name)

    def _forget(self, kind: str, name: str) -> None:
        if kind == "bucket" and (bucket := self.buckets.pop(name, None)) is not None:
            self._signers.pop(bucket.signer, None)
        elif kind == "key" and (key := self.keys.pop(name, None)) is not None:
            self._by_access_key.pop(key.access_key, None)
        elif kind == "trash":
            self.trash.discard(name)
        elif kind == "legacy":
            self.legacy.discard(name)


def _bucket(value: dict[str, Any]) -> Bucket:
    """A bucket as the file has it; earlier ones named the ACL of an object alone."""
    own = {
        name: {"acl": each, "given": "", "seen": None} if isinstance(each, str) else each
        for name, each in value["objects"].items()
    }
    objects = {name: OwnAcl(**each) for name, each in own.items()}
    ended: Sequence[str] = value.get("ended", ())
    return Bucket(**{**value, "objects": objects, "ended": tuple(ended)})


def _given(objects: Mapping[str, OwnAcl]) -> frozenset[str]:
    return frozenset(each.given for each in objects.values())


def _others(objects: Mapping[str, OwnAcl], name: str) -> Mapping[str, OwnAcl]:
    return {other: each for other, each in objects.items() if other != name}


def _less(key: Key, label: str) -> Key:
    grants = {bucket: writes for bucket, writes in key.grants.items() if bucket != label}
    return replace(key, grants=grants, lists=tuple(each for each in key.lists if each != label))
