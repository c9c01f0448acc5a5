"""What the API offers: several reads in one request (Roost's own; docs/batch.md)."""

import orjson

from roost.resources.batch.bodies import BatchedRequest, SendBatch
from roost.resources.batch.records import BatchRow
from roost.resources.batch.service import answer_all
from roost.web.call import Asked, Call
from roost.web.registry import Rate, endpoint
from roost.web.reply import Reply

_RATE = Rate(800, 120)


async def _note(call: Call, body: SendBatch) -> SendBatch:
    """Beside the answer of the handler, which is kept for a day where the batch has a key."""
    call.asked = [_asked(each) for each in body.requests]
    return body


def _asked(request: BatchedRequest) -> Asked:
    wanted = None if request.filter is None else orjson.dumps(request.filter)
    return Asked(request.path, wanted, request.if_none_match)


async def _answer(call: Call, reply: Reply) -> Reply:
    """Outside of the transaction, as each request has one of its own."""
    assert call.ask is not None
    return Reply(200, await answer_all(call.ask, call.asked))


@endpoint(
    "POST", "/batch", body=SendBatch, returns=BatchRow, rate=_RATE, prepare=_note, after=_answer
)
async def send_batch(call: Call, body: SendBatch) -> None:
    """Send several reads at once.

    Each is answered as if it had come by itself: with its rights, its errors, its tag, and counted
    by its own rate limit. Only what is answered in JSON at once can be asked for: no streams, no
    files and no `wait`. Takes any token. An extension of the API.
    """
