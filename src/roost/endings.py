"""How a program of the host ended: what is written to the log of it, and what is told to people."""

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_WORDS = 4000
"""Characters of what it said that are kept: the last ones."""
NOTHING_SAID = "it said nothing"
SILENT = "it has ended without a word, or does not answer; the kernel's log may tell of it"
"""Of a server that is no child of ours, so that nobody knows how it ended."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How something ended that did not do what it was to do."""

    program: str
    """Its name, without its folder."""
    code: int
    """As `returncode` of a process: the exit status, or the number of a signal below zero."""
    said: str

    @classmethod
    def of(cls, command: Sequence[str | Path], code: int | None, said: bytes | str) -> "Ending":
        text = said if isinstance(said, str) else said.decode(errors="replace")
        return cls(Path(command[0]).name, code or 0, last_words(text))

    def __str__(self) -> str:
        """For operators, such as `nft ended with 1: syntax error`."""
        return f"{self.program} {self.how}: {self.said or NOTHING_SAID}"

    @property
    def how(self) -> str:
        """Such as `was killed by SIGSEGV`, or `ended with 1`."""
        if self.code >= 0:
            return f"ended with {self.code}"
        try:
            return f"was killed by {signal.Signals(-self.code).name}"
        except ValueError:
            return f"was killed by signal {-self.code}"

    @property
    def is_silent(self) -> bool:
        """Whether `how` tells more than its words do."""
        return self.code < 0 or not self.said


def last_words(text: str) -> str:
    """The end of what a program said, empty when it said nothing."""
    return text.strip()[-_WORDS:]
