"""The key file and what it seals."""

import asyncio
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import structlog
from argon2 import PasswordHasher, Type, extract_parameters

from roost.app.logs import configure_logs
from roost.secrets import (
    Box,
    hash_guest_password,
    hash_password,
    hash_token,
    verify_password,
)


def test_sealed_and_opened(tmp_path: Path) -> None:
    sealed = Box.from_file(tmp_path / "key").seal(b"secret")
    assert b"secret" not in sealed
    assert Box.from_file(tmp_path / "key").open(sealed) == b"secret"
    with pytest.raises(ValueError, match="another key"):
        Box.from_file(tmp_path / "other").open(sealed)


def test_the_key_file_is_private_and_made_once(tmp_path: Path) -> None:
    path = tmp_path / "key"
    with ThreadPoolExecutor(8) as threads:
        boxes = list(threads.map(lambda _n: Box.from_file(path), range(8)))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]
    sealed = boxes[0].seal(b"x")
    assert all(box.open(sealed) == b"x" for box in boxes)


def test_hashes() -> None:
    assert len(hash_token("0" * 64)) == 32
    first, second = hash_guest_password("secret"), hash_guest_password("secret")
    assert first.startswith("$6$")
    assert first != second


def test_passwords_are_hashed_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    """RFC 9106, section 4: the second recommended choice. Other tests hash quickly."""
    monkeypatch.setattr("roost.secrets.PasswordHasher", PasswordHasher)
    hashed = hash_password("secret")
    chosen = extract_parameters(hashed)
    assert chosen.type is Type.ID
    assert (chosen.time_cost, chosen.memory_cost, chosen.parallelism) == (3, 2**16, 4)
    assert verify_password(hashed, "secret")
    assert not verify_password(hashed, "Secret")


def test_tracebacks_in_logs_hold_no_local_variables(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    configure_logs()
    log = structlog.get_logger()

    async def fail(token: str) -> None:
        raise RuntimeError("broken " + str(len(token)))

    try:
        asyncio.run(fail("canary-" + "7" * 20))
    except RuntimeError:
        log.exception("failed")
    logged = capfdbinary.readouterr().err
    assert b"broken 27" in logged
    assert b"canary" not in logged
