"""Entity tags (RFC 9110, 8.8.3 and 13.1): which version of something an answer shows, and requests
that are about one version alone.

A tag is made of the body's bytes, so that it covers whatever is shown, wherever that stands.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

import xxhash

from roost.errors import ApiError, Problem, invalid
from roost.store import Queries
from roost.web.call import Call
from roost.web.registry import Endpoint
from roost.web.reply import Header, Reply

IF_MATCH = "If-Match"
IF_NONE_MATCH = "If-None-Match"
Handle = Callable[[Endpoint, Call, None], Awaitable[Reply]]

_MOST = 100
_ANY = "*"
_TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\U0010ffff]*"'
_LIST = re.compile(rf"\s*{_TAG}(?:\s*,\s*{_TAG})*\s*")
_EACH = re.compile(_TAG)


class Wanted:
    """The tags of a header."""

    def __init__(self, text: str, header: str) -> None:
        """ApiError 400 for what is neither `*` nor a list of up to 100 tags."""
        self._any = text.strip() == _ANY
        self._tags = () if self._any else tuple(_EACH.findall(text))
        if not self._any and not (_LIST.fullmatch(text) and len(self._tags) <= _MOST):
            raise invalid(f'Must be * or up to {_MOST} tags such as "x", with commas', header)

    def has(self, tag: str) -> bool:
        """Whether it is one of them, byte for byte (strong comparison)."""
        return self._any or tag in self._tags

    def is_like(self, tag: str) -> bool:
        """Whether a tag is the version's, where it may be marked as weak, as proxies mark what they
        compress."""
        return self._any or any(each.removeprefix("W/") == tag for each in self._tags)


def tag_of(reply: Reply) -> str:
    return f'"{xxhash.xxh3_128_hexdigest(reply.body)}"'


def tagged(reply: Reply, if_none_match: str | None = None) -> Reply:
    """The answer of a GET with its tag; 304 without a body where the client has it already."""
    if reply.status != 200:
        return reply
    tag = tag_of(reply)
    headers: tuple[Header, ...] = (*reply.headers, (b"etag", tag.encode()))
    if if_none_match is not None and Wanted(if_none_match, IF_NONE_MATCH).is_like(tag):
        return Reply(304, b"", headers)
    return replace(reply, headers=headers)


class Condition:
    """`If-Match` of one request."""

    def __init__(self, endpoint: Endpoint, methods: Mapping[str, Endpoint], text: str) -> None:
        """`methods` are those of its path. ApiError 400 where there is no version to match."""
        shown = methods.get("GET")
        if endpoint.method not in ("PUT", "DELETE") or shown is None or shown.query:
            raise invalid("This operation has no version to match", IF_MATCH)
        self._shown = shown
        self._wanted = Wanted(text, IF_MATCH)

    async def check(self, call: Call, db: Queries, handle: Handle) -> None:
        """ApiError 412 when what `db` shows the caller is another version."""
        if not self._wanted.has(tag_of(await handle(self._shown, replace(call, db=db), None))):
            reason = "It has changed since it was read"
            raise ApiError(412, [Problem(reason, IF_MATCH)])


def may_chain(endpoint: Endpoint, methods: Mapping[str, Endpoint]) -> bool:
    """Whether the answer of a write is what a GET of its path shows."""
    shown = methods.get("GET")
    return endpoint.method == "PUT" and shown is not None and shown.returns == endpoint.returns
