"""Roost's cloud-config, the caller's user data and a StackScript as one."""

import email
import gzip
import hashlib
import zlib
from email import encoders
from email.message import Message
from email.mime.multipart import MIMEMultipart
from email.mime.nonmultipart import MIMENonMultipart
from email.mime.text import MIMEText
from io import BytesIO

from roost.engines.qemu.images.first_boot import wrapped
from roost.resources.compute.engine import FirstBootScript

_GZIP = b"\x1f\x8b"
_MIME_SEARCHED = 4096
"""Bytes at the start where cloud-init looks for a MIME header; the same rule must hold here."""
_MOST_UNPACKED = 4 * 1024 * 1024
"""Bytes of a message; more of 65,535 bytes are no user data, but a trap."""


def combined(
    config: bytes, user_data: bytes | None, script: FirstBootScript | None = None
) -> bytes:
    """A document of which cloud-init applies all parts.

    The caller's part comes first: the later one says how two are merged, and Roost's says that it
    gives way.
    """
    run_once = b"" if script is None else wrapped(script)
    if not user_data and not run_once:
        return config
    message = MIMEMultipart(boundary=hashlib.sha256((user_data or b"") + run_once).hexdigest())
    if user_data:
        message.attach(_part(user_data))
    message.attach(MIMEText(config.decode(), "cloud-config", "us-ascii"))
    if run_once:
        message.attach(_encoded("text", "x-shellscript", run_once))
    return message.as_bytes()


def _part(user_data: bytes) -> Message:
    """cloud-init finds out itself what a plain text is: a script, a cloud-config, a template."""
    plain = _unpacked(user_data)
    if b"mime-version:" in plain[:_MIME_SEARCHED].lower():
        return email.message_from_bytes(plain)
    kind = ("application", "gzip") if user_data.startswith(_GZIP) else ("text", "plain")
    return _encoded(*kind, user_data)


def _unpacked(user_data: bytes) -> bytes:
    """Unpack all user data: in packed parts alone, cloud-init takes no message apart."""
    if not user_data.startswith(_GZIP):
        return user_data
    try:
        with gzip.GzipFile(fileobj=BytesIO(user_data)) as file:
            plain = file.read(_MOST_UNPACKED + 1)
    except (OSError, EOFError, zlib.error):
        return user_data
    return plain if len(plain) <= _MOST_UNPACKED else user_data


def _encoded(kind: str, subkind: str, content: bytes) -> Message:
    part = MIMENonMultipart(kind, subkind)
    part.set_payload(content)
    encoders.encode_base64(part)
    return part
