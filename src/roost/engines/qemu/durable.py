"""What must still be there after the host has lost its power."""

import os
from pathlib import Path


def sync(*paths: Path) -> None:
    """Wait until files and directories are on the disk as they are now.

    A file that has got another name is there under it once its directory is.
    """
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
