"""What the control plane tells the gateway, at a socket that only it can open.

Each is a POST of JSON, answered with JSON when it is in force; `made` goes on with a line for each
bucket that an S3 client wants.
"""

import json
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from roost.engines.gateway import acls, lists, moves, objects, uploads
from roost.engines.gateway.faults import S3Error, unavailable
from roost.engines.gateway.http import Request, Response
from roost.engines.gateway.register import Bucket, Key
from roost.engines.gateway.room import Share
from roost.engines.gateway.state import Gateway, Pending
from roost.engines.gateway.upstream import Outgoing

Json: TypeAlias = dict[str, object]

_IDLE_SECONDS = 10.0
_REFUSED = "The account may not have this bucket"
_SINCE = f"{os.getpid()} {time.time()}"


async def answer(gateway: Gateway, request: Request) -> None:
    """409 with a word for what the control plane may expect, 503 for what it cannot help."""
    action, sent = request.target.removeprefix("/"), json.loads(await request.inbox.whole())
    if action == "made":
        await _made(gateway, request)
        return
    found: Json
    try:
        status, found = 200, await _ACTIONS[action](gateway, sent)
    except _NotEmptyError:
        status, found = 409, {"error": "BucketNotEmpty"}
    except _TakenError:
        status, found = 410, {"error": "Taken"}
    except S3Error as error:
        status, found = 503, {"error": error.code}
    await request.send(Response(status, {}, json.dumps(found).encode(), "application/json"))


class _TakenError(Exception):
    """The label is that of another row's bucket."""


class _NotEmptyError(Exception):
    """The bucket holds objects, or is being written to."""


async def _put_bucket(gateway: Gateway, sent: Json) -> Json:
    label, mark = str(sent["label"]), str(sent["mark"])
    known = gateway.register.buckets.get(label)
    if known is None and sent["only_if_known"]:
        return {}
    if known is not None and known.mark != mark:
        raise _TakenError
    acl, cors = sent["acl"], bool(sent["cors"])
    own = await acls.of_sent(gateway, known, sent["objects"])  # type: ignore[arg-type]
    bucket = await gateway.register.set_bucket(label, mark, acl, cors=cors, objects=own)  # type: ignore[arg-type]
    if not sent["only_if_known"]:
        incoming, _ = await gateway.upstream.call(Outgoing("PUT", f"/{bucket.place}"))
        if incoming.status not in (200, 409):
            raise S3Error(503, "ServiceUnavailable", "The bucket cannot be made")
    if bucket.moving_from is not None:
        gateway.trashed.set()
    return {}


async def _close_bucket(gateway: Gateway, sent: Json) -> Json:
    """What had begun before has ended then, or takes longer than a few seconds."""
    bucket = _known(gateway, sent)
    if bucket is not None:
        await gateway.register.close_bucket(bucket)
        await gateway.until_idle(bucket, _IDLE_SECONDS)
    return {}


async def _delete_bucket(gateway: Gateway, sent: Json) -> Json:
    """One that is empty, when nothing is put into it any more."""
    bucket = _known(gateway, sent)
    if bucket is None:
        return {}
    with gateway.closing(bucket):
        if bucket.moving_from is not None or not await gateway.until_idle(bucket, _IDLE_SECONDS):
            raise _NotEmptyError
        if not await lists.is_empty(gateway.upstream, bucket):
            raise _NotEmptyError
        await gateway.register.remove_bucket(bucket)
    gateway.trashed.set()
    return {}


async def _purge_bucket(gateway: Gateway, sent: Json) -> Json:
    bucket = _known(gateway, sent)
    if bucket is None:
        _refuse_pending(gateway, str(sent["label"]))
        return {}
    await gateway.register.remove_bucket(bucket)
    with gateway.closing(bucket):
        await gateway.until_idle(bucket, _IDLE_SECONDS)
    gateway.trashed.set()
    return {}


def _known(gateway: Gateway, sent: Json) -> Bucket | None:
    """The bucket of this very row."""
    bucket = gateway.register.buckets.get(str(sent["label"]))
    return bucket if bucket is not None and bucket.mark == sent["mark"] else None


async def _end_uploads(gateway: Gateway, sent: Json) -> Json:
    bucket = gateway.register.buckets.get(str(sent["label"]))
    if bucket is not None:
        await uploads.end(gateway.upstream, bucket, str(sent["before"]))
    return {}


def _refuse_pending(gateway: Gateway, label: str) -> None:
    pending = gateway.pending.get(label)
    if pending is not None and label not in gateway.register.buckets:
        pending.refusal = _REFUSED
        pending.decided.set()


async def _put_key(gateway: Gateway, sent: Json) -> Json:
    key = Key(**{**sent, "lists": tuple(sent["lists"])})  # type: ignore[arg-type]
    await gateway.register.set_key(key)
    for pending in [each for each in gateway.pending.values() if each.key == key.name]:
        known = pending.label in key.grants or pending.label in key.lists
        if known and pending.label in gateway.register.buckets:
            pending.decided.set()
    return {}


async def _delete_key(gateway: Gateway, sent: Json) -> Json:
    await gateway.register.remove_key(str(sent["name"]))
    return {}


async def _buckets(gateway: Gateway, _sent: Json) -> Json:
    """The lost ones are those of which the server behind has nothing."""
    there = set(await moves.places(gateway))
    known = list(gateway.register.buckets.values())
    return {
        "marks": {each.label: each.mark for each in known},
        "lost": [each.label for each in known if each.place not in there],
    }


async def _keys(gateway: Gateway, _sent: Json) -> Json:
    return {"names": sorted(gateway.register.keys)}


async def _list(gateway: Gateway, sent: Json) -> Json:
    bucket = gateway.register.buckets.get(str(sent["label"]))
    if bucket is None:
        return {"found": [], "next": None}
    prefix, marker, delimiter = (str(sent[each]) for each in ("prefix", "marker", "delimiter"))
    limit = sent["limit"]
    assert isinstance(limit, int)
    page = await lists.page(gateway.upstream, bucket, prefix, marker, delimiter, limit)
    last = page.found[-1].name if page.truncated else None
    return {"found": [each._asdict() for each in page.found], "next": last}


async def _has(gateway: Gateway, sent: Json) -> Json:
    bucket = gateway.register.buckets.get(str(sent["label"]))
    if bucket is None:
        return {"has": False}
    outgoing = Outgoing("HEAD", objects.path_of(bucket, str(sent["name"])))
    incoming = await gateway.upstream.send(outgoing)
    gateway.upstream.release(incoming)
    if incoming.status not in (200, 404):
        raise S3Error(503, "ServiceUnavailable", "The server behind does not tell")
    return {"has": incoming.status == 200}


async def _ended_acls(gateway: Gateway, sent: Json) -> Json:
    bucket = gateway.register.buckets.get(str(sent["label"]))
    return {"names": [] if bucket is None else list(bucket.ended)}


async def _usage(gateway: Gateway, sent: Json) -> Json:
    bucket = gateway.register.buckets.get(str(sent["label"]))
    if bucket is None:
        return {"objects": 0, "size": 0}
    gateway.room.count_begins(bucket.label)
    count, size = await lists.usage(gateway.upstream, bucket)
    size += await uploads.size(gateway.upstream, bucket)
    return {"objects": count, "size": size}


async def _traffic(gateway: Gateway, _sent: Json) -> Json:
    return {"since": _SINCE, "sent": gateway.sent}


async def _signer(gateway: Gateway, sent: Json) -> Json:
    bucket = gateway.register.buckets.get(str(sent["label"]))
    if bucket is None or bucket.mark != sent["mark"]:
        return {"access_key": None}
    return {"access_key": bucket.signer, "secret_key": bucket.signer_secret}


async def _health(gateway: Gateway, _sent: Json) -> Json:
    """Whether clients can come, and the server behind answers."""
    if not gateway.in_reach:
        raise unavailable()
    incoming, _ = await gateway.upstream.call(Outgoing("GET", "/"))
    if incoming.status != 200:
        raise S3Error(503, "ServiceUnavailable", "The server behind refuses")
    return {"is_full": gateway.room.is_full}


async def _set_shares(gateway: Gateway, sent: Json) -> Json:
    shares = sent["shares"]
    assert isinstance(shares, list)
    gateway.room.set_shares(Share(tuple(each["buckets"]), each["left"]) for each in shares)
    await gateway.room.save()
    return {}


async def _made(gateway: Gateway, request: Request) -> None:
    told = list[Pending]()
    await request.begin(Response())
    while True:
        waiting = list(gateway.pending.values())
        for each in waiting:
            if each not in told:
                line = json.dumps({"label": each.label, "key": each.key})
                await request.write(f"{line}\n".encode())
        told = waiting
        async with gateway.asked:
            await gateway.asked.wait()


_ACTIONS: Mapping[str, Callable[[Gateway, Json], Awaitable[Json]]] = {
    "put-bucket": _put_bucket,
    "close-bucket": _close_bucket,
    "delete-bucket": _delete_bucket,
    "end-uploads": _end_uploads,
    "purge-bucket": _purge_bucket,
    "put-key": _put_key,
    "delete-key": _delete_key,
    "buckets": _buckets,
    "keys": _keys,
    "list": _list,
    "has": _has,
    "ended-acls": _ended_acls,
    "usage": _usage,
    "traffic": _traffic,
    "signer": _signer,
    "health": _health,
    "set-shares": _set_shares,
}
