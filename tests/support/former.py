"""The version before this one, from the history of the checkout."""

import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path

from roost.store import migrate
from tests.support.installation import ROOT

VERSIONS = "src/roost/store/migrations/versions"

_PROGRAM = """\
#!{python}
import sys

sys.path.insert(0, {source!r})
from roost.cli import main

main()
"""


def has_history() -> bool:
    """A download of the files alone has none, nor has a shallow clone."""
    done = _git("rev-parse", "--is-shallow-repository")
    return done.returncode == 0 and done.stdout.strip() == b"false"


def install_former(folder: Path) -> Path:
    """The command of the former version, which runs with this one's libraries."""
    source = export(_former(), folder)
    program = folder / "roost"
    program.write_text(_PROGRAM.format(python=sys.executable, source=str(source)))
    program.chmod(0o755)
    return program


def export(commit: str, folder: Path) -> Path:
    """The source of a commit, in the folder."""
    archive = _read("archive", "--format=tar", commit, "src")
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        files.extractall(folder)
    return folder / "src"


def has_older_tables(program: Path) -> bool:
    """Whether what `install_former` made has; a release may have changed none."""
    newest = max(path.name for path in (program.parent / VERSIONS).glob("[0-9]*"))
    return newest[:4] < migrate.head()


def described() -> str:
    """What upgrades are tried from, for who reads the output of a run."""
    if not has_history():
        return "nothing, as the checkout has no history"
    former = _former()
    if former.startswith("v"):
        return former
    return f"{former[:8]}^, the last commit with other tables, as no tag v… is before this commit"


def _former() -> str:
    """The newest version that was tagged before this commit; else the last commit before the newest
    revision. A commit that is tagged itself has to upgrade the version before."""
    tagged = _git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD^")
    if tagged.returncode == 0:
        return tagged.stdout.decode().strip()
    changed = _read("log", "--first-parent", "--format=%H", "-1", "HEAD", "--", VERSIONS)
    return f"{changed.decode().strip()}^"


def _read(*words: str) -> bytes:
    done = _git(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _git(*words: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=False)
