"""Secrets at rest: hashes for what is only compared, a sealed box for what is needed again."""

import contextlib
import hashlib
import hmac
import os
import tempfile
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE_BYTES = 12


def hash_token(token: str) -> bytes:
    """SHA-256; enough for 256 random bits."""
    return hashlib.sha256(token.encode()).digest()


def hash_password(password: str) -> str:
    """Argon2id for the passwords of Roost's own users. Slow: call it off the event loop."""
    return PasswordHasher().hash(password)


def verify_password(hashed: str, password: str) -> bool:
    """Whether it is the password of this Argon2id hash. Slow: call it off the event loop."""
    try:
        return PasswordHasher().verify(hashed, password)
    except VerifyMismatchError:
        return False


def hash_guest_password(password: str) -> str:
    """SHA-512 crypt(3), what a guest's /etc/shadow holds. Slow: call it off the event loop."""
    from passlib.hash import sha512_crypt  # Needed for guests alone: no start waits for it.

    return str(sha512_crypt.using(rounds=5000).hash(password))


class Box:
    """AES-256-GCM with a key file that lives outside the database."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)
        self._marks = hmac.digest(key, b"marks", hashlib.sha256)

    @classmethod
    def from_file(cls, path: Path) -> "Box":
        """The key in `path`, made there (mode 0600) when the file does not exist yet."""
        if not path.exists():
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name) as draft:
                draft.write(AESGCM.generate_key(bit_length=256))
                draft.flush()
                os.fsync(draft.fileno())
                # Whole or not there, and the first process wins.
                with contextlib.suppress(FileExistsError):
                    os.link(draft.name, path)
        return cls(path.read_bytes())

    def mark(self, purpose: bytes, data: bytes) -> bytes:
        """What only those who have the key can make of the data: HMAC-SHA256."""
        return hmac.digest(self._marks, purpose + b"\0" + data, hashlib.sha256)

    def seal(self, plain: bytes) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, plain, None)

    def open(self, sealed: bytes) -> bytes:
        """Raises ValueError when the key or the data are not the right ones."""
        try:
            return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], None)
        except InvalidTag as error:
            raise ValueError("sealed with another key") from error
