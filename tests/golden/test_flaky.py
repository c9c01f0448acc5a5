"""Tests that fail by chance are few, have a cause, and are mended within two weeks."""

from datetime import UTC, datetime, timedelta

from tests.golden.flaky import DAYS, FILE, MOST, flaky_tests


def test_the_list_is_short_and_new() -> None:
    rows = flaky_tests()
    today = datetime.now(UTC).date()
    assert len(rows) <= MOST
    assert [row for row in rows if today - row.seen > timedelta(days=DAYS)] == []


def test_the_listed_tests_exist() -> None:
    root = FILE.parents[1]
    for row in flaky_tests():
        path, _, name = row.test.partition("::")
        assert f"def {name.partition('[')[0]}(" in (root / path).read_text()
