"""Multipart forms, byte by byte, so that tests can send wrong ones."""

from dataclasses import dataclass

BOUNDARY = "a-boundary-7519"


@dataclass(frozen=True, slots=True)
class FormPart:
    """A part of a form; without a file name when that is None."""

    filename: str | None
    content: bytes
    name: str = "file"

    def encode(self) -> bytes:
        disposition = f'form-data; name="{self.name}"'
        if self.filename is not None:
            disposition += f'; filename="{self.filename}"'
        head = f"--{BOUNDARY}\r\nContent-Disposition: {disposition}\r\n\r\n"
        return head.encode() + self.content + b"\r\n"


def form(*parts: FormPart) -> tuple[str, bytes]:
    """Content-Type and body."""
    body = b"".join(part.encode() for part in parts) + f"--{BOUNDARY}--\r\n".encode()
    return f"multipart/form-data; boundary={BOUNDARY}", body
