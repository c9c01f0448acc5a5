"""What a benchmark found, as a line of a table that is printed while it grows."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the table; without a target it is there for information."""

    name: str
    measured: float
    unit: str = ""
    target: float | None = None
    wanted: Literal["at least", "at most"] = "at most"
    note: str = ""

    @property
    def missed(self) -> bool:
        if self.target is None:
            return False
        too_little = self.measured < self.target
        return too_little if self.wanted == "at least" else self.measured > self.target

    @property
    def cells(self) -> tuple[str, ...]:
        verdict = "MISSED" if self.missed else "ok"
        return (
            self.name,
            f"{self.measured:.3g} {self.unit}".rstrip(),
            "" if self.target is None else f"{self.wanted} {self.target:g} {self.unit}".rstrip(),
            "" if self.target is None else verdict,
            self.note,
        )


HEAD = ("NAME", "MEASURED", "TARGET", "", "NOTE")
_WIDTHS = (52, 10, 16, 6, 0)


def line(cells: tuple[str, ...]) -> str:
    padded = (text.ljust(width) for text, width in zip(cells, _WIDTHS, strict=True))
    return "  ".join(padded).rstrip()
