"""Roost's cloud-config and the caller's user data as one."""

import email
import hashlib
from email import encoders
from email.message import Message
from email.mime.multipart import MIMEMultipart
from email.mime.nonmultipart import MIMENonMultipart
from email.mime.text import MIMEText

_GZIP = b"\x1f\x8b"
_MIME_SEARCHED = 4096
"""Bytes at the start where cloud-init looks for a MIME header; the same rule must hold here."""


def combined(config: bytes, user_data: bytes | None) -> bytes:
    """A document of which cloud-init applies both parts.

    The caller's part comes first: the later one says how two are merged, and Roost's says that it
    gives way.
    """
    if not user_data:
        return config
    message = MIMEMultipart(boundary=hashlib.sha256(user_data).hexdigest())
    message.attach(_part(user_data))
    message.attach(MIMEText(config.decode(), "cloud-config", "us-ascii"))
    return message.as_bytes()


def _part(user_data: bytes) -> Message:
    """cloud-init finds out itself what a plain text is: a script, a cloud-config, a template."""
    if b"mime-version:" in user_data[:_MIME_SEARCHED].lower():
        return email.message_from_bytes(user_data)
    kind = ("application", "gzip") if user_data.startswith(_GZIP) else ("text", "plain")
    part = MIMENonMultipart(*kind)
    part.set_payload(user_data)
    encoders.encode_base64(part)
    return part
