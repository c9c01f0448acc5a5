"""Pieces of large files: what is put in comes out, once kept, never damaged."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.app.backup.archive import BackupError
from roost.app.backup.pieces import Contents, Pieces, digests

_MB = 1 << 20

_WRITES = st.lists(
    st.tuples(st.integers(0, 4 * _MB), st.binary(min_size=1, max_size=50)), max_size=6
)


def write(path: Path, size: int, *parts: tuple[int, bytes]) -> Path:
    """A file with holes; what is written behind its end is cut off."""
    with path.open("wb") as file:
        for position, data in parts:
            os.pwrite(file.fileno(), data, position)
        file.truncate(size)
    return path


def keep(folder: Path, *files: Path) -> list[Contents]:
    with Pieces.opened(folder) as pieces:
        pieces.begin()
        kept = [pieces.put(file) for file in files]
        pieces.settle()
        return kept


def added(folder: Path, file: Path) -> int:
    with Pieces.opened(folder) as pieces:
        pieces.begin()
        pieces.put(file)
        pieces.settle()
        return pieces.added


@given(st.integers(0, 4 * _MB), _WRITES)
def test_what_is_put_in_comes_out(size: int, parts: list[tuple[int, bytes]]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        source = write(folder / "source", size, *parts)
        (contents,) = keep(folder / "pieces", source)
        contents = Contents.model_validate_json(contents.model_dump_json())
        with Pieces.opened(folder / "pieces") as pieces:
            assert pieces.missing([contents]) == 0
            pieces.get(contents, folder / "target")
        assert (folder / "target").read_bytes() == source.read_bytes()


def test_only_what_has_changed_is_added(tmp_path: Path) -> None:
    parts = [(number * _MB, os.urandom(_MB)) for number in range(4)]
    first = write(tmp_path / "first", 8 * _MB, *parts)
    assert added(tmp_path / "pieces", first) > 4 * _MB
    assert added(tmp_path / "pieces", first) == 0
    second = write(tmp_path / "second", 8 * _MB, *parts, (2 * _MB + 5, b"new"))
    assert _MB < added(tmp_path / "pieces", second) < 1.1 * _MB


def test_pieces_that_nobody_lists_are_removed(tmp_path: Path) -> None:
    parts = [(number * _MB, os.urandom(_MB)) for number in range(2)]
    file, other = (
        write(tmp_path / name, 4 * _MB, *chosen)
        for name, chosen in (("file", parts), ("other", parts[:1]))
    )
    contents, kept = keep(tmp_path / "pieces", file, other)
    with Pieces.opened(tmp_path / "pieces") as pieces:
        number, room = pieces.prune(digests([kept]))
        assert (number, room > _MB) == (1, True)
        assert (pieces.missing([contents]), pieces.missing([kept])) == (1, 0)
        pieces.get(kept, tmp_path / "target")
        with pytest.raises(BackupError, match="is missing or damaged"):
            pieces.get(contents, tmp_path / "gone")


def test_what_a_killed_backup_has_left_is_no_piece(tmp_path: Path) -> None:
    file = write(tmp_path / "file", _MB, (0, os.urandom(_MB)))
    with Pieces.opened(tmp_path / "pieces") as pieces:
        pieces.begin()
        contents = pieces.put(file)
        assert pieces.missing([contents]) == 1
    with Pieces.opened(tmp_path / "pieces") as pieces:
        pieces.begin()
        pieces.settle()
        assert pieces.missing([contents]) == 1


@pytest.mark.parametrize("damage", [b"", b"\0" * 40, b"x\x9c" + b"\0" * 40])
def test_a_damaged_piece_is_refused(tmp_path: Path, damage: bytes) -> None:
    (contents,) = keep(tmp_path / "pieces", write(tmp_path / "file", _MB, (0, b"held")))
    (piece,) = (tmp_path / "pieces").glob("??/*")
    piece.write_bytes(damage)
    with (
        Pieces.opened(tmp_path / "pieces") as pieces,
        pytest.raises(BackupError, match=f"{piece.name} in .* is missing or damaged"),
    ):
        pieces.get(contents, tmp_path / "target")


def test_a_file_is_as_long_as_it_was(tmp_path: Path) -> None:
    (contents,) = keep(tmp_path / "pieces", write(tmp_path / "file", _MB, (0, os.urandom(_MB))))
    shorter = contents.model_copy(update={"size": 7})
    with (
        Pieces.opened(tmp_path / "pieces") as pieces,
        pytest.raises(BackupError, match="longer than it was"),
    ):
        pieces.get(shorter, tmp_path / "target")


def test_one_program_at_a_time_has_the_folder(tmp_path: Path) -> None:
    with (
        Pieces.opened(tmp_path / "pieces"),
        pytest.raises(BackupError, match="in use"),
        Pieces.opened(tmp_path / "pieces"),
    ):
        pass
