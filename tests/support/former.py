"""The version before this one, from the history of the checkout."""

import subprocess
import sys
import tarfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path, PurePath

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
    archive = _read("archive", "--format=tar", _former(), "src")
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        files.extractall(folder)
    program = folder / "roost"
    program.write_text(_PROGRAM.format(python=sys.executable, source=str(folder / "src")))
    program.chmod(0o755)
    return program


def _former() -> str:
    """The newest version that was tagged; else the last commit before the newest revision."""
    tagged = _git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD")
    if tagged.returncode == 0:
        return tagged.stdout.decode().strip()
    present = {path.name for path in (ROOT / VERSIONS).glob("[0-9]*.py")}
    for commit, revisions in _older():
        if revisions < present and max(revisions) < max(present):
            return commit
    raise AssertionError("the history has no commit with an older revision")


def _older() -> Iterator[tuple[str, set[str]]]:
    """Commits after which revisions were changed, the newest first, and the revisions they had."""
    changed = _read("log", "--first-parent", "--format=%H", "HEAD", "--", VERSIONS)
    for commit in changed.decode().split():
        listed = _read("ls-tree", "--name-only", f"{commit}^", f"{VERSIONS}/").decode().split()
        names = (PurePath(path).name for path in listed)
        yield f"{commit}^", {name for name in names if name[0].isdigit()}


def _read(*words: str) -> bytes:
    done = _git(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _git(*words: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=False)
