"""A revision of the tables that has landed is never edited: databases have it already."""

from hashlib import sha256

from roost.store import migrate
from tests.golden.gaps import read_list


def test_no_landed_revision_has_changed() -> None:
    """A new revision gets a line of its own in tests/golden/revisions.txt."""
    found = []
    for revision in migrate.revisions():
        digest = sha256(migrate.statements(revision).encode()).hexdigest()
        found.append(f"{revision.name.removesuffix('.sql')} {digest[:16]}")
    assert found == read_list("revisions")


def test_revisions_are_sql_alone() -> None:
    """What has another name or form would never run."""
    known = migrate.revisions()
    assert all(each.is_dir() or each.suffix == ".sql" for each in known)
    assert len({each.name[:4] for each in known}) == len(known)
    assert {path for path in migrate.VERSIONS.iterdir() if path.name != "__pycache__"} == set(known)
    inner = [path for each in known if each.is_dir() for path in each.iterdir()]
    assert {path.suffix for path in inner} == {".sql"}
