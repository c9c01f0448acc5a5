"""Attachments: read from a form, checked to be what their names say, and stored before their rows.

Files are never shown, run or made into anything else. Images are opened, which reads their
structure, but not decoded (spec A support; RFC 7578).
"""

import io
import re
import secrets
import warnings
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

import structlog
from multipart import (
    MultipartError,
    MultipartSegment,
    ParserLimitReached,
    PushMultipartParser,
    parse_options_header,
)

from roost.core.planes import Engines
from roost.errors import ApiError, Problem, invalid, not_found
from roost.resources.support import queries, rules
from roost.resources.support.engine import (
    ATTACHMENT_PLANE,
    AttachmentStore,
    AttachmentStoreError,
)
from roost.threads import COMPUTING
from roost.web.call import Call
from roost.web.registry import Upload

FIELD = "file"
REQUIRED = "file is required"
TWO_FILES = "Must be exactly one file"
NAMELESS = "Must be a file with a name"
PATH = "The file name must not contain a path"
TOO_LARGE = f"Must be at most {rules.MAX_FILE // 1024**2} MiB"

_MAX_PARTS = 20
_BACKSLASH = re.compile(r'\\(?!")')
_ENCODED = re.compile(r"; *filename\*=utf-8'[a-z0-9-]*'([^;\"\s]+)\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FormFile:
    name: str
    content: bytes


@dataclass(slots=True)
class _Part:
    segment: MultipartSegment
    content: bytearray

    @property
    def is_file(self) -> bool:
        return self.segment.name == FIELD or self._filename() is not None

    def file(self) -> FormFile:
        name = self._filename()
        if not name:
            raise invalid(NAMELESS, FIELD)
        return FormFile(name, bytes(self.content))

    def _filename(self) -> str | None:
        """`filename*` is not of the standard for forms, but some clients send it."""
        filename: str | None = self.segment.filename
        disposition: str = self.segment["Content-Disposition"]
        if filename is not None and _BACKSLASH.search(disposition):
            # The parser would cut `C:\folder\` off.
            raise invalid(PATH, FIELD)
        encoded = _ENCODED.search(disposition)
        if filename is not None or encoded is None:
            return filename
        try:
            return unquote_to_bytes(encoded[1]).decode()
        except UnicodeDecodeError:
            raise invalid("The file name must be valid UTF-8", FIELD) from None


def read_form(content_type: str, body: bytes) -> FormFile:
    """The form's file, in the field `file`; other fields that are no files are ignored.

    ApiError 400 when there is no file, more than one, or the form is broken or cut off.
    """
    files = [part for part in _parts(content_type, body) if part.is_file]
    if not any(part.segment.name == FIELD for part in files):
        raise invalid(REQUIRED, FIELD)
    if len(files) > 1:
        raise invalid(TWO_FILES, FIELD)
    return files[0].file()


def _parts(content_type: str, body: bytes) -> list[_Part]:
    _, options = parse_options_header(content_type)
    boundary = options.get("boundary")
    if not boundary:
        raise invalid("Content-Type must name the boundary of the form")
    try:
        return _parse(boundary, body)
    except ParserLimitReached as error:
        raise (invalid(TOO_LARGE, FIELD) if "size" in str(error) else _broken()) from None
    except MultipartError:
        raise _broken() from None


def _parse(boundary: str, body: bytes) -> list[_Part]:
    parts: list[_Part] = []
    with PushMultipartParser(
        boundary,
        max_segment_size=rules.MAX_FILE,
        max_segment_count=_MAX_PARTS,
        strict=True,
    ) as parser:
        for event in parser.parse(body) if body else ():
            if isinstance(event, MultipartSegment):
                parts.append(_Part(event, bytearray()))
            elif event:
                parts[-1].content += event
    return parts


def _broken() -> ApiError:
    return invalid("The body must be a whole multipart form")


# A crafted TIFF has one for each of 65,000 tags; Python would print and keep them all.
warnings.filterwarnings("ignore", module=r"PIL\.")

_MAX_NAME = 255
_PDF_END = 1024
_TEXT_CONTROLS = frozenset(b"\t\n\x0b\x0c\r\x08\x1b")
_NOT_IN_TEXT = bytes(sorted(set(range(0x20)) - _TEXT_CONTROLS)) + b"\x7f"
_BOMS = {b"\xff\xfe\x00\x00": "utf-32", b"\x00\x00\xfe\xff": "utf-32"} | {
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
_NO_TEXT = (b"%PDF-", b"GIF87a", b"GIF89a", b"\x89PNG", b"\xff\xd8\xff", b"II*\0", b"MM\0*")

EMPTY = "Must not be empty"
WRONG_NAME = f"The file name must have 1-{_MAX_NAME} characters, and no control characters"


def check_file(file: FormFile) -> None:
    """ApiError 400 for a file that is refused. Slow: call it off the event loop."""
    if "/" in file.name or "\\" in file.name:
        raise invalid(PATH, FIELD)
    if len(file.name) > _MAX_NAME or rules.has_control_characters(file.name):
        raise invalid(WRONG_NAME, FIELD)
    stem, dot, extension = file.name.rpartition(".")
    is_right = _KINDS.get(extension.lower()) if dot and stem else None
    if is_right is None:
        accepted = ", ".join(f".{name}" for name in _KINDS)
        raise invalid(f"The file name must end in one of {accepted}", FIELD)
    if not file.content:
        raise invalid(EMPTY, FIELD)
    if not is_right(file.content):
        raise invalid(f"The content is not that of a .{extension} file", FIELD)


def _image(kind: str) -> Callable[[bytes], bool]:
    def check(content: bytes) -> bool:
        # Seldom needed, and slow to load.
        from PIL import Image

        try:
            with Image.open(io.BytesIO(content), formats=(kind,)) as image:
                image.verify()
        except Exception:  # Decoders raise errors of many types for crafted files.
            return False
        return True

    return check


def _is_pdf(content: bytes) -> bool:
    return content.startswith(b"%PDF-") and b"%%EOF" in content[-_PDF_END:]


def _is_text(content: bytes) -> bool:
    """In UTF-8, in UTF-16 or 32 with a mark, or in any encoding of 8 bits."""
    if content.startswith(_NO_TEXT):
        return False
    encoding = next((name for bom, name in _BOMS.items() if content.startswith(bom)), None)
    if encoding is None:
        return not content.translate(None, bytes(set(range(256)) - set(_NOT_IN_TEXT)))
    try:
        return "\0" not in content.decode(encoding)
    except UnicodeDecodeError:
        return False


_JPEG, _TIFF = _image("JPEG"), _image("TIFF")

_KINDS: Mapping[str, Callable[[bytes], bool]] = {
    "gif": _image("GIF"),
    "jpg": _JPEG,
    "jpeg": _JPEG,
    "pjpg": _JPEG,
    "pjpeg": _JPEG,
    "tif": _TIFF,
    "tiff": _TIFF,
    "png": _image("PNG"),
    "pdf": _is_pdf,
    "txt": _is_text,
}

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
