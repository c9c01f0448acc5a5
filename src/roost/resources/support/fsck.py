"""`roost fsck` of attachments: every row against its file, every file against its row."""

from collections.abc import AsyncIterator
from functools import partial

from roost.core.fsck import Finding, Installation, UnrepairableError, unrepairable
from roost.core.planes import Engines
from roost.core.reconcile import PAGE
from roost.resources.support import queries
from roost.resources.support.engine import (
    ATTACHMENT_PLANE,
    AttachmentStore,
    AttachmentStoreError,
    StoredFile,
)
from roost.resources.support.queries import Attachment

_IN_FLIGHT = 600.0
"""Seconds; a younger file may be waiting for its row."""


async def check_attachments(installation: Installation) -> AsyncIterator[Finding]:
    """Compare attachments with files; rows are read first, so that a new file is no surprise."""
    store = installation.get(Engines).of(ATTACHMENT_PLANE)
    after, last = 0, await queries.last_attachment(installation.store)
    try:
        files = {file.key: file for file in await store.list()}
    except AttachmentStoreError as error:
        yield unrepairable("the attachments of tickets cannot be seen", str(error))
        return
    while rows := await queries.all_attachments(installation.store, after, last, PAGE):
        after = rows[-1].id
        for row in rows:
            problem = _problem(row, files.pop(row.key, None))
            if problem is not None:
                name = f"attachment {row.id} ({row.name!r}) of ticket {row.ticket_id}"
                yield unrepairable(f"{name} {problem}", f"restore {row.key} from a backup")
    for key in sorted(files):
        if files[key].age > _IN_FLIGHT:
            text = f"the file {key} belongs to no attachment of a ticket"
            yield Finding(text, partial(_delete, installation, store, key))


def _problem(row: Attachment, file: StoredFile | None) -> str | None:
    if file is None:
        return "has no file"
    if file.size != row.size:
        return f"has {row.size} bytes, but its file {file.size}"
    return None


async def _delete(installation: Installation, store: AttachmentStore, key: str) -> str:
    if await queries.has_key(installation.store, key):
        return "it has one by now"
    try:
        await store.delete(key)
    except AttachmentStoreError as error:
        raise UnrepairableError(str(error)) from error
    return "deleted it"
