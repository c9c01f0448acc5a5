"""Headers of objects, on their way to the server behind and from there."""

from collections.abc import Mapping

from roost.engines.gateway.faults import not_built
from roost.engines.gateway.upstream import Incoming

_METADATA = "x-amz-meta-"
_NOTHING = "=?empty?="
"""Once more than it was sent: what stands for nothing may itself be a value."""
_SENT = frozenset(
    (
        *("content-type", "content-md5", "content-disposition", "content-language", "expires"),
        *("cache-control", "if-match", "if-none-match", "if-modified-since", "range"),
        *("if-unmodified-since", "x-amz-tagging", "x-amz-storage-class", "x-amz-tagging-directive"),
        *("x-amz-metadata-directive", "x-amz-copy-source-if-match", "x-amz-checksum-mode"),
        *("x-amz-copy-source-if-none-match", "x-amz-copy-source-if-modified-since"),
        *("x-amz-copy-source-if-unmodified-since", "x-amz-copy-source-range"),
        *("x-amz-sdk-checksum-algorithm", "x-amz-checksum-algorithm", "x-amz-checksum-type"),
        *("x-amz-website-redirect-location", "x-amz-mp-object-size"),
    )
)
_SENT_PREFIXES = (_METADATA, "x-amz-checksum-")
_KEY_PARTS = ("algorithm", "key", "key-md5")
"""Parts of the headers of a client's own key (SSE-C), with which SeaweedFS reads only where its
parts speak no TLS."""
_NOT_BUILT = (
    "x-amz-server-side-encryption",
    "x-amz-server-side-encryption-aws-kms-key-id",
    "x-amz-object-lock-mode",
    "x-amz-object-lock-retain-until-date",
    "x-amz-object-lock-legal-hold",
    "x-amz-write-offset-bytes",
    *(f"x-amz-server-side-encryption-customer-{each}" for each in _KEY_PARTS),
    *(f"x-amz-copy-source-server-side-encryption-customer-{each}" for each in _KEY_PARTS),
)
_ANSWERED = frozenset(
    (
        *("content-type", "content-length", "content-range", "content-encoding", "etag"),
        *("content-disposition", "content-language", "cache-control", "expires", "last-modified"),
        *("accept-ranges", "x-amz-tagging-count", "x-amz-storage-class", "x-amz-mp-parts-count"),
        *("x-amz-website-redirect-location",),
    )
)


def sent_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Those that mean something to the server behind. Raises 501 for what nobody does."""
    for name in _NOT_BUILT:
        if name in headers:
            raise not_built(name)
    found = {
        name: value
        for name, value in headers.items()
        if name in _SENT or name.startswith(_SENT_PREFIXES)
    }
    codings = [each.strip() for each in headers.get("content-encoding", "").split(",")]
    kept = [each for each in codings if each and each.lower() != "aws-chunked"]
    if kept:
        found["content-encoding"] = ",".join(kept)
    return found | {name: _kept(each) for name, each in found.items() if name.startswith(_METADATA)}


def answered_headers(incoming: Incoming) -> dict[str, str]:
    return {
        name: _shown(value) if name.startswith(_METADATA) else value
        for name, value in incoming.headers
        if name in _ANSWERED or name.startswith(_SENT_PREFIXES)
    }


def _kept(value: str) -> str:
    """Metadata as the server behind keeps it, which drops what is empty."""
    return value + _NOTHING if not value.replace(_NOTHING, "") else value


def _shown(value: str) -> str:
    return value.removesuffix(_NOTHING) if not value.replace(_NOTHING, "") else value
