"""Dumps of a database, by the programs of PostgreSQL that are installed with Roost."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from roost.endings import Ending
from roost.errors import OperatorError
from roost.store.cluster import bundled_programs

_OTHERS_NOT = ("--no-owner", "--no-privileges")
"""What is loaded belongs to the one who loads it, whatever roles there were."""

_SCRIPTED = (
    *("--no-psqlrc", "--quiet", "--output=/dev/null"),
    *("--single-transaction", "--set=ON_ERROR_STOP=1"),
)
_PREAMBLE = 40
"""Lines at most in which a script sets what holds for it."""
_NEWER = (b"SET transaction_timeout = 0;\n",)
"""That servers before PostgreSQL 17 do not know."""


class DumpError(OperatorError):
    """A database could not be dumped or loaded; the text is the program's first words."""


@contextmanager
def dumping(dsn: str, snapshot: str) -> Iterator[IO[bytes]]:
    """Gives what to read the dump from, to its end. Blocks: for a thread.

    Of the exported snapshot, whose transaction lasts at least as long. Raises DumpError at the
    end of the block when the dump is not whole.
    """
    shown, secret = without_password(dsn)
    command = ("pg_dump", "--format=custom", f"--snapshot={snapshot}", f"--dbname={shown}")
    with _running((*command, *_OTHERS_NOT), secret) as process:
        assert process.stdout is not None
        yield process.stdout


def load(dsn: str, dump: IO[bytes]) -> None:
    """Load a dump into an empty database: all of it or nothing. Blocks: for a thread.

    Raises DumpError.
    """
    command = ("pg_restore", "--single-transaction", "--exit-on-error", f"--dbname={dsn}")
    with _running((*command, *_OTHERS_NOT)) as process:
        _feed(process, b"", dump)


def load_own(dsn: str, dump: IO[bytes]) -> None:
    """Load a dump into a server of the operator's own, maybe an older one: `pg_restore` begins
    with settings that those refuse, so that its statements go by `psql`, without these.
    """
    shown, secret = without_password(dsn)
    with tempfile.TemporaryFile() as archive:
        shutil.copyfileobj(dump, archive)
        archive.seek(0)
        with (
            _running(("psql", *_SCRIPTED, f"--dbname={shown}"), secret) as writer,
            _running(("pg_restore", "--file=-", *_OTHERS_NOT), reads=archive) as reader,
        ):
            assert reader.stdout is not None
            lines = (reader.stdout.readline() for _ in range(_PREAMBLE))
            begin = b"".join(each for each in lines if each not in _NEWER)
            _feed(writer, begin, reader.stdout)


def without_password(dsn: str) -> tuple[str, dict[str, str]]:
    """What all users of the machine may see of a URL, and environment that they may not."""
    parts = urlsplit(dsn)
    who, at, where = parts.netloc.rpartition("@")
    user, _, password = who.partition(":")
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    password = unquote(password) or dict(pairs).get("password", "")
    if not password:
        return dsn, {}
    query = urlencode([pair for pair in pairs if pair[0] != "password"])
    shown = f"{parts.scheme}://{user}{at}{where}{parts.path}{'?' if query else ''}{query}"
    return shown, {"PGPASSWORD": password}


def _feed(process: subprocess.Popen[bytes], begin: bytes, source: IO[bytes]) -> None:
    """Write the dump to a program; when that has ended, its exit code tells why."""
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.write(begin)
        shutil.copyfileobj(source, process.stdin)
    with suppress(BrokenPipeError):
        process.stdin.close()


@contextmanager
def _running(
    command: Sequence[str],
    secret: Mapping[str, str] | None = None,
    reads: IO[bytes] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """`secret`: environment more than ours. `reads`: a file, in place of a pipe."""
    program = str(bundled_programs() / command[0])
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(  # noqa: S603 - one of ours
            [program, *command[1:]],
            env={**os.environ, **(secret or {})},
            stdin=subprocess.PIPE if reads is None else reads,
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
            ending = Ending.of(command, process.returncode, words)
            raise DumpError(str(ending) if ending.is_silent else words)
