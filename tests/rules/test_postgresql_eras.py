"""Which segments of PostgreSQL's log of writes follow from a backup, whoever led meanwhile."""

import pytest

from roost.engines.postgresql.eras import Base, Era, Kept, Stretch, due, is_needed
from roost.engines.postgresql.segments import first_of, left_in, name_of

FIRST, SECOND, THIRD = "00000001", "00000002", "00000003"
HISTORY = """1\t0/5000148\tno recovery target specified

2\t0/70000A0\tno recovery target specified
"""


def kept(first: str, last: str, *former: Stretch) -> tuple[Base, Kept]:
    era = Era(timeline=last[:8], former=list(former), last=last)
    base = Base(backup_id=7, era=0, first=first)
    return base, Kept(eras=[era], bases=[base])


def test_of_one_timeline_all_from_the_backup_on_are_due() -> None:
    base, all_kept = kept(name_of(FIRST, 254), name_of(FIRST, 257))
    assert due(base, all_kept) == [name_of(FIRST, number) for number in (254, 255, 256, 257)]


def test_where_another_server_goes_on_its_timeline_does() -> None:
    """The segment in which it began has what the former one had of it, too."""
    stretches = Stretch(timeline=FIRST, last=4), Stretch(timeline=SECOND, last=6)
    base, all_kept = kept(name_of(FIRST, 3), name_of(THIRD, 8), *stretches)
    expected = [
        *(name_of(FIRST, 3), name_of(FIRST, 4), name_of(SECOND, 5), name_of(SECOND, 6)),
        *(name_of(THIRD, 7), name_of(THIRD, 8)),
    ]
    assert due(base, all_kept) == expected
    assert all(is_needed(name, [base], all_kept) for name in expected)


@pytest.mark.parametrize(
    "name", [name_of(FIRST, 2), name_of(FIRST, 5), name_of(SECOND, 4), name_of("00000009", 6)]
)
def test_what_a_server_wrote_that_nobody_has_is_not_needed(name: str) -> None:
    base, all_kept = kept(name_of(FIRST, 3), name_of(SECOND, 8), Stretch(timeline=FIRST, last=4))
    assert not is_needed(name, [base], all_kept)


def test_a_backup_of_a_later_timeline_needs_nothing_of_former_ones() -> None:
    stretch = Stretch(timeline=FIRST, last=4)
    base, all_kept = kept(name_of(SECOND, 6), name_of(SECOND, 7), stretch)
    assert due(base, all_kept) == [name_of(SECOND, 6), name_of(SECOND, 7)]


def test_nothing_of_a_timeline_is_due_of_which_nothing_was_kept_yet() -> None:
    base, all_kept = kept(name_of(FIRST, 3), name_of(FIRST, 4), Stretch(timeline=FIRST, last=4))
    all_kept.eras[0].timeline = SECOND
    assert due(base, all_kept) == [name_of(FIRST, 3), name_of(FIRST, 4)]


def test_a_history_says_where_each_timeline_was_left() -> None:
    assert left_in(HISTORY) == [(FIRST, 5), (SECOND, 7)]
    assert first_of(THIRD, HISTORY) == name_of(THIRD, 7)
