"""Fixtures of the image tests."""

from pathlib import Path

import pytest

from roost.engines.qemu.images.store import GuestImage, ImageStore
from tests.support.images import ensure_mini


@pytest.fixture
def store(tmp_path: Path) -> ImageStore:
    """An empty store, in place of the database of that name."""
    return ImageStore(tmp_path / "images")


@pytest.fixture(scope="session")
def mini_image() -> GuestImage:
    image = ensure_mini().find("roost/mini")
    assert image is not None
    return image
