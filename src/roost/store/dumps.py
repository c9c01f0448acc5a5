"""Dumps of a database, by the programs of PostgreSQL that are installed with Roost."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO

from roost.errors import OperatorError
from roost.store.cluster import bundled_programs

_OTHERS_NOT = ("--no-owner", "--no-privileges")
"""What is loaded belongs to the one who loads it, whatever roles there were."""


class DumpError(OperatorError):
    """A database could not be dumped or loaded; the text is the program's first words."""


@contextmanager
def dumping(dsn: str, snapshot: str) -> Iterator[IO[bytes]]:
    """Gives what to read the dump from, to its end. Blocks: for a thread.

    Of the exported snapshot, whose transaction lasts at least as long. Raises DumpError at the
    end of the block when the dump is not whole.
    """
    command = ("pg_dump", "--format=custom", f"--snapshot={snapshot}", f"--dbname={dsn}")
    with _running(command) as process:
        assert process.stdout is not None
        yield process.stdout


def load(dsn: str, dump: IO[bytes]) -> None:
    """Load a dump into an empty database: all of it or nothing. Blocks: for a thread.

    Raises DumpError.
    """
    command = ("pg_restore", "--single-transaction", "--exit-on-error", f"--dbname={dsn}")
    with _running(command) as process:
        assert process.stdin is not None
        # Of a program that has ended its exit code tells.
        with suppress(BrokenPipeError):
            shutil.copyfileobj(dump, process.stdin)
        with suppress(BrokenPipeError):
            process.stdin.close()


@contextmanager
def _running(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    program = str(bundled_programs() / command[0])
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(  # noqa: S603 - one of ours
            [program, *_OTHERS_NOT, *command[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        try:
            with process:
                yield process
        except BaseException:
            process.kill()
            raise
        if process.returncode != 0:
            errors.seek(0)
            # Further lines may quote rows.
            words = errors.readline().decode(errors="replace").strip()
            raise DumpError(words or f"{command[0]} ended with {process.returncode}")
