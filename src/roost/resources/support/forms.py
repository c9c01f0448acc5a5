"""The one file of a multipart form (RFC 7578), with its name as it was sent."""

import re
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from multipart import (
    MultipartError,
    MultipartSegment,
    ParserLimitReached,
    PushMultipartParser,
    parse_options_header,
)

from roost.errors import ApiError, invalid
from roost.resources.support import rules

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
