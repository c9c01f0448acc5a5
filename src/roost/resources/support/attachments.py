"""Taking in an attachment: its file is stored before its row, and taken back without it."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog

from roost.core.planes import Engines
from roost.errors import ApiError, Problem, not_found
from roost.resources.support import queries
from roost.resources.support.contents import check_file
from roost.resources.support.engine import (
    ATTACHMENT_PLANE,
    AttachmentStore,
    AttachmentStoreError,
)
from roost.resources.support.forms import FormFile, read_form
from roost.threads import COMPUTING
from roost.web.call import Call
from roost.web.registry import Upload

_log = structlog.get_logger(__name__)
_KEY_BYTES = 16


@dataclass(slots=True)
class NewAttachment:
    """A file that is stored under its key; the name is the user's."""

    key: str
    name: str
    size: int
    kept: bool = False
    """Whether the request made a row of it."""


@asynccontextmanager
async def take_in(call: Call, upload: Upload) -> AsyncIterator[NewAttachment]:
    """Store the file of the form while the request makes its row.

    What happens to a request that is broken off here is left to `roost fsck`: the row may be
    there, and then so must the file.
    """
    file = await COMPUTING.run(_read, upload)
    if not await queries.exists(call.db, call.account_id, call.number("ticketId")):
        raise not_found()
    store = call.get(Engines).of(ATTACHMENT_PLANE)
    new = NewAttachment(secrets.token_hex(_KEY_BYTES), file.name, len(file.content))
    await _put(store, new.key, file.content)
    try:
        yield new
    except ApiError:
        await _take_back(store, new.key)
        raise
    if not new.kept:  # The answer was one that an equal request got before.
        await _take_back(store, new.key)


def _read(upload: Upload) -> FormFile:
    file = read_form(upload.content_type, upload.body)
    check_file(file)
    return file


async def _put(store: AttachmentStore, key: str, content: bytes) -> None:
    try:
        await store.put(key, content)
    except AttachmentStoreError as error:
        _log.error("attachment_not_stored", error=str(error))
        reason = "Attachments cannot be stored now. Please try again later."
        raise ApiError(503, [Problem(reason)]) from error


async def _take_back(store: AttachmentStore, key: str) -> None:
    try:
        await store.delete(key)
    except AttachmentStoreError as error:
        _log.warning("attachment_left_over", key=key, error=str(error))
