"""A revision of the tables that has landed is never edited: databases have it already."""

import runpy
from hashlib import sha256

from roost.store import migrate
from tests.golden.gaps import read_list


def test_no_landed_revision_has_changed() -> None:
    """A new revision gets a line of its own in tests/golden/revisions.txt."""
    found = []
    for path in migrate.revisions():
        sql = runpy.run_path(str(path))
        digest = sha256(f"{sql['UPGRADE']}\0{sql['DOWNGRADE']}".encode()).hexdigest()
        found.append(f"{path.stem} {digest[:16]}")
    assert found == read_list("revisions")
