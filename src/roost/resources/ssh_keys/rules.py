"""What an SSH public key is (reference: SSH key)."""

import base64
import binascii

from roost.web.fields import refuse

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


def public_key(key: str) -> str:
    """An OpenSSH public key on one line: type, base64 data and perhaps a comment.

    Returned without the line end that files of keys have.
    """
    key = key.strip()
    words = key.split(maxsplit=2)
    if not key.isprintable() or len(words) < 2 or not _is_key(words[0], words[1]):
        raise refuse(NOT_A_KEY)
    return key


def _is_key(kind: str, data: str) -> bool:
    if kind not in _PARTS:
        return False
    try:
        blob = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return False
    parts = _split(blob)
    return len(parts) == _PARTS[kind] and parts[0] == kind.encode() and all(parts)


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
