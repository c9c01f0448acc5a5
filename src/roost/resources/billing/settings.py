"""What the operator has set for invoices as files."""

from dataclasses import dataclass, field
from pathlib import Path

from roost.errors import OperatorError
from roost.settings import Settings
from roost.shares import Places

_AT_ONCE = 2
"""Invoices that are in memory at the same time; others wait."""


class PaperSettingsError(OperatorError):
    """A font that cannot be used."""


@dataclass(frozen=True, slots=True)
class Papers:
    """How invoices look, and how many are made at the same time."""

    issuer: tuple[str, ...]
    """Lines that say who charges."""
    font: Path | None
    """For what the own font lacks."""
    room: Places = field(default_factory=lambda: Places(_AT_ONCE), repr=False)

    @classmethod
    def of(cls, settings: Settings) -> "Papers":
        """Raises PaperSettingsError."""
        lines = (line.strip() for line in settings.invoice_issuer.split(";"))
        if settings.invoice_font is not None:
            _check(settings.invoice_font)
        return cls(tuple(filter(None, lines)), settings.invoice_font)


def _check(font: Path) -> None:
    # Few processes look at a font.
    from fontTools.ttLib import TTFont, TTLibError

    try:
        with TTFont(font) as opened:
            usable = "glyf" in opened and opened.getBestCmap() is not None
    except (OSError, TTLibError) as error:
        raise PaperSettingsError(f"ROOST_INVOICE_FONT cannot be used: {error}") from None
    if not usable:
        raise PaperSettingsError("ROOST_INVOICE_FONT must be a TrueType font with Unicode")
