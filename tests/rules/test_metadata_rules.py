"""The metadata service's tokens, and its documents as text."""

from datetime import UTC, datetime, timedelta

import pytest

from roost.resources.compute.metadata.rules import (
    accepts_token,
    lines_of,
    make_token,
    parse_expiry,
)
from roost.secrets import Box

NOW = datetime(2030, 1, 31, 12, tzinfo=UTC)
BOX = Box(bytes(32))


@pytest.mark.parametrize(("text", "seconds"), [("1", 1), ("3600", 3600), ("86400", 86_400)])
def test_a_token_lives_as_long_as_asked(text: str, seconds: int) -> None:
    assert parse_expiry(text) == seconds


@pytest.mark.parametrize(
    "text", [None, "", "0", "86401", "-1", "+5", "1.5", " 60", "1e3", "\uff19", "60\n", "9" * 5000]
)
def test_other_lives_are_refused(text: str | None) -> None:
    assert parse_expiry(text) is None


def test_a_token_is_its_guests_until_it_ends() -> None:
    token = make_token(BOX, 100_001, NOW, 60)
    assert accepts_token(BOX, 100_001, NOW, token)
    assert accepts_token(BOX, 100_001, NOW + timedelta(seconds=59), token)
    assert not accepts_token(BOX, 100_001, NOW + timedelta(seconds=60), token)
    assert not accepts_token(BOX, 100_002, NOW, token)
    assert not accepts_token(Box(b"\1" * 32), 100_001, NOW, token)


def test_a_token_cannot_be_changed() -> None:
    token = make_token(BOX, 100_001, NOW, 60)
    later = f"{int(token[:8], 16) + 1:08x}{token[8:]}"
    for other in (None, "", later, token[:-1], token + "0", token.upper(), f" {token}"):
        assert not accepts_token(BOX, 100_001, NOW, other), other


def test_documents_as_lines() -> None:
    document = {
        "label": "web\nid: 7",
        "id": 100_001,
        "tags": [],
        "backups": {"enabled": False, "status": None},
        "users": {"root": ["ssh-ed25519 AAAA one", "ssh-ed25519 BBBB two"]},
    }
    assert lines_of(document) == (
        "backups.enabled: false\n"
        "id: 100001\n"
        "label: web id: 7\n"
        "users.root: ssh-ed25519 AAAA one\n"
        "users.root: ssh-ed25519 BBBB two\n"
    )
