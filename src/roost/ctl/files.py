"""Files that are sent or written."""

import mimetypes
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import click

from roost.commands.operations import Command
from roost.ctl.errors import WRONG_USE, CommandError

MAX_BYTES = 16 << 20
"""Of a file in a request; what is larger goes to an address of its own."""
_FORM = "multipart/form-data"


def read_upload(command: Command, path: Path) -> tuple[str, bytes]:
    """The Content-Type and the body; UsageError."""
    if path.stat().st_size > MAX_BYTES:
        raise click.UsageError(f"--file: {path} has more than {MAX_BYTES} bytes.")
    content = path.read_bytes()
    if _FORM in command.accepts:
        return _form(path.name, content)
    kind = mimetypes.guess_type(path.name)[0] or ""
    if kind not in command.accepts:
        raise click.UsageError(f"--file must be one of {', '.join(command.accepts)}.")
    return kind, content


def save(pieces: Iterator[bytes], output: str | None) -> None:
    """To the file, which is whole or not there, or to what follows in a pipe."""
    if output is None:
        if sys.stdout.isatty():
            raise CommandError("say --output FILE: this is not for a terminal", WRONG_USE)
        _write(pieces, sys.stdout.buffer)
        return
    part = Path(f"{output}.part")
    try:
        with part.open("wb") as file:
            _write(pieces, file)
        part.replace(output)
    except OSError as error:
        raise CommandError(f"{output} is not written: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)


def _write(pieces: Iterator[bytes], file: BinaryIO) -> None:
    for piece in pieces:
        file.write(piece)
    file.flush()


def _form(name: str, content: bytes) -> tuple[str, bytes]:
    boundary = uuid.uuid4().hex
    safe = name.encode("ascii", "replace").decode().replace('"', "_")
    head = (
        f"--{boundary}\r\n"
        f'Content-Disposition: form-data; name="file"; filename="{safe}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    body = head.encode() + content + f"\r\n--{boundary}--\r\n".encode()
    return f"{_FORM}; boundary={boundary}", body
