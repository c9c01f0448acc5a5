"""Secrets that settings name by the files that hold them."""

from pathlib import Path

from roost.errors import OperatorError

_LEAST, _MOST = 16, 4096
"""Bytes"""


class SecretFileError(OperatorError):
    """There is no secret where a setting says so."""


def read_secret(setting: str, path: Path) -> bytes:
    """Without white space around it, as editors end files with a line's end. Raises
    SecretFileError."""
    try:
        with path.open("rb") as file:
            secret = file.read(_MOST + 1).strip()
    except OSError as error:
        raise SecretFileError(f"{setting} cannot be read: {error.strerror}") from None
    if not _LEAST <= len(secret) <= _MOST:
        raise SecretFileError(f"{setting} must hold {_LEAST} to {_MOST} bytes")
    return secret
