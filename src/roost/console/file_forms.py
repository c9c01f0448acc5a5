"""Plain forms with files, which are read only for pages of our own."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from multipart import (
    MultipartError,
    MultipartSegment,
    ParserLimitReached,
    PushMultipartParser,
    parse_options_header,
)
from starlette.requests import ClientDisconnect, Request

MAX_FORM = 8 * 1024 * 1024
"""Bytes of a form with all its files, which are held in memory."""
MAX_FILES = 50
_READ_SECONDS = 120
EXPIRED = "This page was open for too long. Read it again, then send it again"
TOO_LARGE = f"The files have more than {MAX_FORM // 1024**2} MB together"
TOO_MANY_FILES = f"At most {MAX_FILES} files at once"
TOO_SLOW = "The form came too slowly"
DAMAGED = "The form came damaged"
_TEXTS = ("csrf", "prefix")


class RefusedError(Exception):
    """With the status and the reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


@dataclass(slots=True)
class File:
    name: str
    kind: str
    """Its media type, as the browser says."""
    body: bytearray = field(default_factory=bytearray)


@dataclass(slots=True)
class Sent:
    """Such a form."""

    texts: dict[str, bytearray] = field(default_factory=dict)
    files: list[File] = field(default_factory=list)

    def text(self, name: str) -> str:
        return self.texts.get(name, b"").decode(errors="replace")

    def begin(self, segment: MultipartSegment) -> bytearray | None:
        """Where what comes of it goes; None for what nobody wants."""
        if segment.name in _TEXTS and segment.filename is None:
            return self.texts.setdefault(segment.name, bytearray())
        if "csrf" not in self.texts:
            raise RefusedError(403, EXPIRED)
        if segment.name != "file" or not segment.filename:
            return None
        self.files.append(File(segment.filename, segment.content_type or ""))
        return self.files[-1].body


def is_file_form(request: Request) -> bool:
    return _kind(request)[0] == "multipart/form-data"


async def read_files(request: Request, holds: Callable[[str], bool]) -> Sent:
    """Its first field is `csrf`: where that is not what `holds` wants, nothing more is read. Raises
    RefusedError."""
    length = request.headers.get("content-length", "")
    if not length.isdecimal() or len(length) > 12 or int(length) > MAX_FORM:
        raise RefusedError(413, TOO_LARGE)
    try:
        most, boundary = MAX_FILES + len(_TEXTS), _kind(request)[1].get("boundary", "")
        parser = PushMultipartParser(boundary, int(length), max_segment_count=most, strict=True)
        async with asyncio.timeout(_READ_SECONDS):
            return await _read(parser, request, holds)
    except ParserLimitReached:
        raise RefusedError(413, TOO_MANY_FILES) from None
    except TimeoutError:
        raise RefusedError(408, TOO_SLOW) from None
    except (MultipartError, UnicodeDecodeError, ClientDisconnect):
        raise RefusedError(400, DAMAGED) from None


async def _read(
    parser: PushMultipartParser, request: Request, holds: Callable[[str], bool]
) -> Sent:
    sent, into = Sent(), None
    async for event in _events(parser, request):
        if isinstance(event, MultipartSegment):
            into = sent.begin(event)
        elif event is not None and into is not None:
            into += event
        elif event is None and into is sent.texts.get("csrf") and not holds(sent.text("csrf")):
            raise RefusedError(403, EXPIRED)
    parser.close()
    if "csrf" not in sent.texts:
        raise RefusedError(403, EXPIRED)
    return sent


async def _events(
    parser: PushMultipartParser, request: Request
) -> AsyncIterator[MultipartSegment | bytes | bytearray | memoryview | None]:
    """The head of each part, pieces of it, and None at its end."""
    async for chunk in request.stream():
        if chunk:
            for event in parser.parse(chunk):
                yield event


def _kind(request: Request) -> tuple[str, dict[str, str]]:
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    return kind, options
