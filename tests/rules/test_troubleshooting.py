"""docs/troubleshooting.md: what it quotes is what the code says."""

import re
from functools import cache

import pytest
from tests.support.installation import ROOT

PAGE = (ROOT / "docs/troubleshooting.md").read_text()
QUOTED = sorted(set(re.findall(r"(?<!`)`([^`\n]+)`", PAGE)))
EVENTS = [text for text in QUOTED if re.fullmatch(r"[a-z]+(_[a-z]+)+", text)]
MESSAGES = [text for text in QUOTED if "…" in text or re.match(r"[A-Z][a-z]+ .* ", text)]
OF_THE_SYSTEM = {"Address already in use"}


@cache
def spoken() -> str:
    """All of the code, with texts in one piece that are written in several lines."""
    code = "\n".join(path.read_text() for path in (ROOT / "src/roost").rglob("*.py"))
    return re.sub(r'"\s*\n\s*f?"', "", code).replace("`", "")


def pieces(message: str) -> list[str]:
    """Of a message, without what differs each time."""
    found = re.split(r"…|instances|HOST:PORT", message)
    return [text for piece in found if len(text := piece.strip(" :,.")) > 3]


def test_the_page_quotes_much() -> None:
    assert len(EVENTS) > 12
    assert len(MESSAGES) > 15


@pytest.mark.parametrize("event", EVENTS)
def test_names(event: str) -> None:
    name = event.removesuffix("_total")
    parts = re.findall(r"\w+", spoken())
    assert name in parts or _is_put_together(name.removeprefix("roost_")), event


def _is_put_together(name: str) -> bool:
    """Such as `host_memory_free_bytes`, of a name and what is measured."""
    return any(f'"{name[:at]}' in spoken() for at in range(12, len(name)))


@pytest.mark.parametrize("message", MESSAGES)
def test_messages(message: str) -> None:
    for piece in pieces(message):
        assert piece in spoken() or piece in OF_THE_SYSTEM, piece
