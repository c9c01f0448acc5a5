"""ACLs of objects, which end with their objects: also when nobody was there to note it.

An ACL is held with what its object looked like. Whoever writes or deletes an object ends its ACL;
if the process dies in between, the object is seen to be another one before anybody is let in.
"""

from collections.abc import Mapping

from roost.engines.gateway import names
from roost.engines.gateway.faults import S3Error
from roost.engines.gateway.register import Bucket, OwnAcl
from roost.engines.gateway.state import Gateway
from roost.engines.gateway.upstream import Incoming, Outgoing

_MISSING = ""


async def current(gateway: Gateway, bucket: Bucket, name: str) -> Bucket:
    """The bucket without the ACL of an object that is no more. Raises S3Error."""
    own = bucket.objects.get(name)
    if own is None or own.seen is None or own.seen == await _look(gateway, bucket, name):
        return bucket
    return await gateway.register.end_acl(bucket, name)


async def ended(gateway: Gateway, bucket: Bucket, name: str) -> None:
    """An object was written or deleted, also one that has got an ACL meanwhile."""
    held = gateway.register.buckets.get(bucket.label)
    if held is not None and held.place == bucket.place and name in held.objects:
        await gateway.register.end_acl(bucket, name)


def is_other(bucket: Bucket, name: str, incoming: Incoming) -> bool:
    """Whether what comes is another object than that which has the ACL."""
    own = bucket.objects.get(name)
    whole = incoming.status in (200, 206)
    return own is not None and own.seen is not None and whole and own.seen != _seen(incoming)


async def of_sent(
    gateway: Gateway, bucket: Bucket | None, sent: Mapping[str, Mapping[str, str]]
) -> Mapping[str, OwnAcl]:
    """What the control plane says of objects, with what these look like. Raises S3Error."""
    found = dict[str, OwnAcl]()
    for name, each in sent.items():
        known = None if bucket is None else bucket.objects.get(name)
        if known is not None and known.given == each["given"]:
            found[name] = known
        else:
            # Those of a bucket that is being moved are not there yet.
            looks = bucket is not None and bucket.moving_from is None
            seen = await _look(gateway, bucket, name) if looks and bucket is not None else None
            found[name] = OwnAcl(each["acl"], each["given"], seen)  # type: ignore[arg-type]
    return found


async def _look(gateway: Gateway, bucket: Bucket, name: str) -> str:
    outgoing = Outgoing("HEAD", f"/{bucket.place}/{names.encoded(name)}")
    incoming = await gateway.upstream.send(outgoing)
    gateway.upstream.release(incoming)
    if incoming.status not in (200, 404):
        raise S3Error(503, "ServiceUnavailable", "The server behind does not tell")
    return _seen(incoming) if incoming.status == 200 else _MISSING


def _seen(incoming: Incoming) -> str:
    return f"{incoming.header('last-modified')} {incoming.header('etag')}"
