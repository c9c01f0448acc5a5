"""Tables for people."""

from roost.app.table import format_table


def test_what_users_wrote_commands_no_terminal() -> None:
    """Nor does it begin another line, or turn the direction of writing."""
    rows = [("a\x1b[2J", "two\nlines"), ("\u202eabc", "")]
    assert format_table(("LABEL", "COMPANY"), rows).splitlines() == [
        "LABEL      COMPANY",
        "a\\x1b[2J   two lines",
        "\\u202eabc",
    ]
