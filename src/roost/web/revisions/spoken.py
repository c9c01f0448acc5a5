"""A former revision as a caller speaks it: requests become those of the newest, answers the
caller's."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import orjson

from roost.core.billing.price_changes import DryRunRow
from roost.errors import invalid
from roost.web.dry_run import MEDIA_TYPE
from roost.web.filters import FIELD as FILTER
from roost.web.filters import MAX_DEPTH
from roost.web.registry import EVENT_STREAM, Endpoint
from roost.web.reply import Header, Reply, Streamed, Write
from roost.web.revisions.plans import Plan
from roost.web.revisions.revision import Step
from roost.web.translation import Json, parse, rewrite_messages

HEADER = "Roost-Revision"
_NAME = HEADER.lower().encode()
_STREAM, _DRY_RUN = EVENT_STREAM.encode(), MEDIA_TYPE.encode()
_X_FILTER = FILTER.lower().encode()
_TAGS = (b"if-match", b"if-none-match")
_TAG = re.compile(rb'"([^"]*)"')


@dataclass(frozen=True, slots=True)
class Spoken:
    """One revision, with the steps from it to the newest, its own first."""

    date: str
    steps: Sequence[Step]

    def headers(self, endpoint: Endpoint, headers: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
        """Those of a request: the filter, and the tags without what names the revision in them."""
        said = dict(headers)
        if (wanted := said.get(_X_FILTER)) is not None:
            for step in self.steps:
                if (plan := step.rows.get(endpoint.name)) is not None:
                    wanted = _filter(plan, wanted)
            said[_X_FILTER] = wanted
        for name in _TAGS:
            if (tags := said.get(name)) is not None:
                said[name] = self._tags(tags)
        return said

    def body(self, endpoint: Endpoint, raw: bytes) -> bytes:
        """The body of a request; as it came where nothing of it has changed, or it is no JSON."""
        plans = [plan for step in self.steps if (plan := step.bodies.get(endpoint.name))]
        if not plans or (data := parse(raw)) is None:
            return raw
        for plan in plans:
            plan.up(data)
        return orjson.dumps(data)

    def reply(self, endpoint: Endpoint, reply: Reply) -> Reply:
        """An answer of the newest in the shape of this one."""
        if reply.status >= 400:
            return self._refusal(endpoint, reply)
        if reply.content_type == _DRY_RUN:
            return replace(reply, body=self.record(DryRunRow.__name__, reply.body))
        rewrite = self._down([step.answers.get(endpoint.name) for step in self.steps])
        if isinstance(reply, Streamed):
            return (
                reply if rewrite is None else replace(reply, write=partial(_write, reply, rewrite))
            )
        reply = replace(reply, headers=tuple(self._tagged(each) for each in reply.headers))
        if rewrite is not None and reply.content_type == _STREAM:
            return replace(reply, body=rewrite_messages(rewrite, reply.body))
        if rewrite is None or not reply.body or reply.content_type is not None:
            return reply
        return replace(reply, body=rewrite(reply.body))

    def record(self, name: str, raw: bytes) -> bytes:
        """One record by its name in the document."""
        rewrite = self._down([step.records.get(name) for step in self.steps])
        return raw if rewrite is None else rewrite(raw)

    def static(self, headers: tuple[Header, ...]) -> tuple[Header, ...]:
        """What all answers of an endpoint share: which revision they speak."""
        return tuple((k, self.date.encode() if k == _NAME else v) for k, v in headers)

    def _refusal(self, endpoint: Endpoint, reply: Reply) -> Reply:
        plans = [plan for step in reversed(self.steps) if (plan := step.bodies.get(endpoint.name))]
        if not plans:
            return reply
        body = orjson.loads(reply.body)
        for error in body["errors"]:
            for plan in plans if "field" in error else ():
                error["field"] = plan.name_down(error["field"])
        return replace(reply, body=orjson.dumps(body))

    def _down(self, found: Sequence[Plan | None]) -> Callable[[bytes], bytes] | None:
        plans = [plan for plan in reversed(found) if plan is not None]
        return partial(_rewrite, plans) if plans else None

    def _tagged(self, header: Header) -> Header:
        """A tag names the revision, too, so that nobody takes one shape for another."""
        name, value = header
        return (name, self._mark(value)) if name == b"etag" else header

    def _mark(self, tag: bytes) -> bytes:
        return b'%b;%b"' % (tag[:-1], self.date.encode())

    def _tags(self, tags: bytes) -> bytes:
        """Those of this revision as the newest has them; others are no version of anything."""
        end = b";%b" % self.date.encode()

        def own(found: re.Match[bytes]) -> bytes:
            tag = found[1]
            return b'"%b"' % tag.removesuffix(end) if tag.endswith(end) else b'"%b;"' % tag

        return _TAG.sub(own, tags)


def _rewrite(plans: Sequence[Plan], body: bytes) -> bytes:
    data: Json = orjson.loads(body)
    for plan in plans:
        plan.down(data)
    return orjson.dumps(data)


async def _write(reply: Streamed, rewrite: Callable[[bytes], bytes], write: Write) -> None:
    async def translated(piece: bytes) -> None:
        await write(rewrite_messages(rewrite, piece))

    await reply.write(translated)


def _filter(plan: Plan, text: bytes) -> bytes:
    """The header X-Filter; as it is when it is no JSON object. ApiError 400 for a field that the
    revision does not have."""
    data = parse(text)
    return text if data is None else orjson.dumps(_members(plan, data, 1))


def _members(plan: Plan, members: Mapping[str, Json], depth: int) -> Json:
    said: dict[str, Json] = {}
    for key, value in members.items():
        if key in ("+and", "+or") and isinstance(value, list) and depth < MAX_DEPTH:
            said[key] = [
                _members(plan, each, depth + 1) if isinstance(each, dict) else each
                for each in value
            ]
        elif key == "+order_by" and isinstance(value, str):
            said[key] = _name(plan, value, f"Cannot order by {value}")
        elif key.startswith("+"):
            said[key] = value
        else:
            name = _name(plan, key, f"Cannot filter on {key}")
            said[name] = _operand(plan, key, name, value, depth)
    return said


def _name(plan: Plan, path: str, reason: str) -> str:
    newer = plan.name_up(path)
    if newer is None:
        raise invalid(reason, FILTER)
    return newer


def _operand(plan: Plan, path: str, newer: str, value: Json, depth: int) -> Json:
    """What a field is compared with: within operators, and in lists of such."""
    if depth > MAX_DEPTH:
        return value
    if isinstance(value, dict):
        return {k: _operand(plan, path, newer, v, depth + 1) for k, v in value.items()}
    if isinstance(value, list):
        return [_operand(plan, path, newer, each, depth + 1) for each in value]
    return plan.value_up(path, newer, value)
