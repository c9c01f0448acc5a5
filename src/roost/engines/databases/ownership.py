"""Whose the data of a server are."""

import os
from pathlib import Path

from roost.certificates import Owner


def give(path: Path, owner: Owner) -> None:
    """All below it is the owner's."""
    for folder, _, names in os.walk(path):
        os.chown(folder, *owner)
        for name in names:
            os.chown(os.path.join(folder, name), *owner, follow_symlinks=False)
