"""What a command ends with: each kind of error has an exit code of its own."""

import click

from roost.app.table import escape

REFUSED = 1
WRONG_USE = 2
NOT_ALLOWED = 3
NOT_FOUND = 4
UNREACHABLE = 5
FAILED_LATER = 6


class CommandError(click.ClickException):
    """Ends the command with this text and code; what a server says in it commands no terminal."""

    def __init__(self, text: str, code: int = REFUSED) -> None:
        super().__init__(escape(text))
        self.exit_code = code  # type: ignore[misc]


def code_of(status: int) -> int:
    """The exit code for an answer that refuses."""
    if status in (401, 403):
        return NOT_ALLOWED
    if status == 404:
        return NOT_FOUND
    return UNREACHABLE if status == 429 or status >= 500 else REFUSED
