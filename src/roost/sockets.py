"""Names of Unix sockets, which may have 107 bytes, while state directories may be deep."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def short_name(directory: Path, name: str) -> Iterator[str]:
    """By which this process can bind or reach a socket in a directory. Raises OSError."""
    descriptor = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}/{name}"
    finally:
        os.close(descriptor)
