"""What comes for a bucket, passed on to links that the API signs for the user who is logged in.

Each part needs the rights, the session and the bucket once more.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from roost.console.api import Answer, Api
from roost.console.forms import Sent
from roost.console.links import CutOffError, Told, follow
from roost.console.operations import Operations
from roost.console.reading import one
from roost.console.render import SAFETY
from roost.errors import ErrorItem
from roost.web.routing import Params

MAX_PART = 64 * 1024 * 1024
"""Bytes that one request brings. Scripts send parts of a quarter of that, and larger ones of a file
that would have more than 10,000."""
MAX_PARTS = 10_000
_IDLE_SECONDS = 60
_SLOWEST = 32 * 1024
"""Bytes a second, of all of a request: who is slower would hold a place for days."""
_LINK_SECONDS = 360
"""The least that the API takes; each link is used at once."""
ANY_TYPE = "application/octet-stream"
GONE = "The bucket is not there any more"
LENGTH = f"A request brings at most {MAX_PART} bytes, and says how many"
PARTS = f"These are not the marks of 1 to {MAX_PARTS} parts"
_ETAG = re.compile(r'"?[A-Za-z0-9-]{1,100}"?')


@dataclass(frozen=True, slots=True)
class Bucket:
    """One that somebody sends files to."""

    api: Api
    operations: Operations
    params: Params

    async def link(self, method: str, name: str, **more: object) -> Answer:
        """The API's answer, with a `url` where the user may."""
        body = {"method": method, "name": name, "expires_in": _LINK_SECONDS, **more}
        endpoint = self.operations.by_name["create_object_url"]
        raw = orjson.dumps({key: value for key, value in body.items() if value is not None})
        return await self.api.call(endpoint, self.params, body=raw)


async def put(bucket: Bucket, request: Request) -> Response:
    """A part, or a whole file, which is the request's body."""
    length = request.headers.get("content-length", "")
    if not length.isdecimal() or len(length) > 12 or int(length) > MAX_PART:
        return refused(413, LENGTH)
    asked = request.query_params
    upload, number = asked.get("upload"), asked.get("part", "")
    part = int(number) if number.isdecimal() and len(number) < 6 else None
    kind = None if upload else asked.get("type") or ANY_TYPE
    answer = await bucket.link(
        *("PUT", asked.get("name", "")), upload_id=upload, part_number=part, content_type=kind
    )
    if not answer.ok:
        return _refused(answer)
    body = _pieces(request, int(length))
    return _shown(await follow("PUT", _url(answer), body, int(length), kind))


async def put_bytes(bucket: Bucket, name: str, kind: str, body: bytes) -> Told:
    """A whole file that has come already."""
    answer = await bucket.link("PUT", name, content_type=kind or ANY_TYPE)
    if not answer.ok:
        reasons = [each["reason"] for each in problems_of(answer)]
        return Told(answer.status, reason="; ".join(reasons))
    return await follow("PUT", _url(answer), body, len(body), kind or ANY_TYPE)


async def begin(bucket: Bucket, sent: Sent) -> Response:
    """An upload by parts: its name is what the others need."""
    kind = one(sent, "type") or ANY_TYPE
    answer = await bucket.link("POST", one(sent, "name"), content_type=kind)
    if not answer.ok:
        return _refused(answer)
    told = await follow("POST", _url(answer), content_type=kind)
    return _shown(told, upload=told.text("UploadId"))


async def complete(bucket: Bucket, sent: Sent) -> Response:
    """Of the parts whose marks are sent, one on each line, in their order."""
    etags = one(sent, "etags").split()
    if not 1 <= len(etags) <= MAX_PARTS or not all(map(_ETAG.fullmatch, etags)):
        return refused(400, PARTS)
    answer = await bucket.link("POST", one(sent, "name"), upload_id=one(sent, "upload"))
    if not answer.ok:
        return _refused(answer)
    parts = (
        f"<Part><PartNumber>{n}</PartNumber><ETag>{etag.replace(chr(34), '&quot;')}</ETag></Part>"
        for n, etag in enumerate(etags, 1)
    )
    raw = f"<CompleteMultipartUpload>{''.join(parts)}</CompleteMultipartUpload>".encode()
    return _shown(await follow("POST", _url(answer), raw, len(raw)))


async def abort(bucket: Bucket, asked: Mapping[str, str]) -> Response:
    """What has come of it is kept by nobody."""
    answer = await bucket.link("DELETE", asked.get("name", ""), upload_id=asked.get("upload", ""))
    if not answer.ok:
        return _refused(answer)
    return _shown(await follow("DELETE", _url(answer)))


async def _pieces(request: Request, length: int) -> AsyncIterator[bytes]:
    """What comes. Raises CutOffError where it ends before its end, nothing does for a minute, or
    all of it takes too long."""
    stream, clock = request.stream(), asyncio.get_running_loop().time
    end = clock() + _IDLE_SECONDS + length / _SLOWEST
    try:
        while True:
            async with asyncio.timeout_at(min(end, clock() + _IDLE_SECONDS)):
                piece = await anext(stream, None)
            if piece is None:
                return
            if piece:
                yield piece
    except (TimeoutError, ClientDisconnect) as error:
        raise CutOffError from error


def _url(answer: Answer) -> str:
    return str(answer.record["url"])


def _shown(told: Told, **more: str) -> Response:
    if told.reason:
        return refused(told.status, told.reason)
    return JSONResponse({"etag": told.etag, **more}, headers=dict(SAFETY))


def problems_of(answer: Answer) -> Sequence[ErrorItem]:
    return [{"reason": GONE}] if answer.status == 404 else answer.problems


def _refused(answer: Answer) -> Response:
    return _problems(answer.status, problems_of(answer), answer.headers.get("retry-after", "2"))


def refused(status: int, reason: str, *, goes_on: bool = False) -> Response:
    """To a script, as the API refuses; `goes_on`: with the same parts, once that is mended."""
    return _problems(status, [{"reason": reason}], goes_on=goes_on)


def _problems(
    status: int, problems: Sequence[ErrorItem], seconds: str = "2", *, goes_on: bool = False
) -> Response:
    headers = {**SAFETY, **({"Retry-After": seconds} if status in (429, 503) else {})}
    return JSONResponse({"errors": list(problems), "goes_on": goes_on}, status, headers=headers)
