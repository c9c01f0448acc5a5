"""What an SSH public key is (reference: SSH key)."""

import base64
import binascii
import re
from typing import Annotated

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_ssh_public_key
from pydantic import AfterValidator, Field

from roost.web.fields import Length, refuse

NOT_A_KEY = "Must be an SSH public key in OpenSSH format"

_PARTS = {
    "ssh-rsa": 3,
    "ssh-dss": 5,
    "ssh-ed25519": 2,
    "ecdsa-sha2-nistp256": 3,
    "ecdsa-sha2-nistp384": 3,
    "ecdsa-sha2-nistp521": 3,
    "sk-ecdsa-sha2-nistp256@openssh.com": 4,
    "sk-ssh-ed25519@openssh.com": 3,
}
"""How many strings the data of a key of each type hold, the type included (RFC 4253, 5656)."""

_MAX_LENGTH = 16384
"""Bytes of a line, as OpenSSH's SSH_MAX_PUBKEY_BYTES."""

_UNREADABLE = ("ssh-dss",)
"""Types that `cryptography` is about to drop, and warns of."""


def public_key(key: str) -> str:
    """An OpenSSH public key on one line: type, base64 data and perhaps a comment.

    Returned without the line end that files of keys have.
    """
    key = key.strip()
    words = key.split(maxsplit=2)
    # What is printable can be encoded.
    fits = key.isprintable() and len(key.encode()) <= _MAX_LENGTH and len(words) >= 2
    if not fits or not _is_key(words[0], words[1]):
        raise refuse(NOT_A_KEY)
    return key


PublicKey = Annotated[
    str,
    Length(0, _MAX_LENGTH),
    AfterValidator(public_key),
    Field(json_schema_extra={"pattern": f"^\\s*(?:{'|'.join(map(re.escape, _PARTS))})\\s"}),
]
PublicKeys = Annotated[list[PublicKey], Length(0, 100)]


def _is_key(kind: str, data: str) -> bool:
    if kind not in _PARTS:
        return False
    try:
        blob = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return False
    parts = _split(blob)
    whole = len(parts) == _PARTS[kind] and parts[0] == kind.encode() and all(parts)
    return whole and (kind in _UNREADABLE or _is_readable(f"{kind} {data}"))


def _is_readable(key: str) -> bool:
    """Whether the numbers in it are a key: of the right size, a point of its curve."""
    try:
        load_ssh_public_key(key.encode())
    except (ValueError, UnsupportedAlgorithm):
        return False
    return True


def _split(blob: bytes) -> list[bytes]:
    """Strings with four bytes of length before each; empty when they do not fill the blob."""
    parts: list[bytes] = []
    while blob:
        end = 4 + int.from_bytes(blob[:4], "big")
        if len(blob) < end:
            return []
        parts.append(blob[4:end])
        blob = blob[end:]
    return parts
