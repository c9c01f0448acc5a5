"""What is done with backups without restoring them. All of this blocks: for a thread."""

from collections.abc import Iterable
from pathlib import Path

from roost.app.backup.archive import Reader
from roost.app.backup.disks import read_contents
from roost.app.backup.manifest import Manifest
from roost.app.backup.pieces import Pieces, digests


def check(file: Path, disks: Path | None) -> tuple[Manifest, int]:
    """Read all of a backup, and all pieces that it lists; returns how many those are.

    Raises BackupError when something is damaged or missing.
    """
    with file.open("rb") as opened:
        reader = Reader.open(opened)
        listed = digests(read_contents(reader).values())
    if disks is not None:
        with Pieces.opened(disks) as pieces:
            for digest in listed:
                pieces.read(digest)
    return reader.manifest, len(listed)


def prune(disks: Path, files: Iterable[Path]) -> tuple[int, int]:
    """Remove pieces that none of these backups lists; how many, and their bytes.

    Raises BackupError, and then nothing is removed.
    """
    with Pieces.opened(disks) as pieces:
        kept = set[str]()
        for file in files:
            with file.open("rb") as opened:
                kept |= digests(read_contents(Reader.open(opened)).values())
        return pieces.prune(kept)
