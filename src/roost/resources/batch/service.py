"""Asking for all of a batch."""

import asyncio
from collections.abc import Sequence
from http import HTTPStatus

import orjson

from roost.errors import ErrorBody
from roost.resources.batch.rules import AT_ONCE, MOST_BYTES, SECONDS
from roost.web.call import Ask, Asked
from roost.web.reply import Reply

_TOO_LARGE = f"The answers of a batch have at most {MOST_BYTES} bytes: ask for this one by itself"
_BODILESS = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)


async def answer_all(ask: Ask, requests: Sequence[Asked]) -> bytes:
    """A BatchRow. A few at a time, so that a batch takes no more turns than a browser does; those
    that are not answered in time are refused with 503."""
    gate = asyncio.Semaphore(AT_ONCE)
    ends = asyncio.get_running_loop().time() + SECONDS

    async def answer(request: Asked) -> Reply:
        async with gate:
            # The API answers 503 to what is broken off.
            async with asyncio.timeout_at(ends):
                return await ask(request)

    async with asyncio.TaskGroup() as tasks:
        asking = [tasks.create_task(answer(request)) for request in requests]
    left, said = MOST_BYTES, []
    for request, task in zip(requests, asking, strict=True):
        reply = task.result()
        if len(reply.body) > left:
            reply = _refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TOO_LARGE)
        left -= len(reply.body)
        said.append(_shown(request.path, reply))
    return orjson.dumps({"answers": said})


def _refusal(status: int, reason: str) -> Reply:
    body: ErrorBody = {"errors": [{"reason": reason}]}
    return Reply(status, orjson.dumps(body))


def _shown(path: str, reply: Reply) -> dict[str, object]:
    tag = dict(reply.headers).get(b"etag")
    return {
        "path": path,
        "status": reply.status,
        "etag": None if tag is None else tag.decode(),
        "body": None if reply.status in _BODILESS else orjson.Fragment(reply.body),
    }
