"""The engines that regions are bound to."""

from ipaddress import ip_address
from pathlib import Path
from typing import Literal

import pytest

from roost.app import engines
from roost.app.engines import bind_engines
from roost.clock import Clock
from roost.core.catalog import load
from roost.settings import Settings


class Recorded:
    """Stands for QemuInstances, which has no way to tell what it was given."""

    def __init__(self, *arguments: object) -> None:
        self.arguments = arguments


@pytest.fixture
def capable_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real engines would run here."""

    async def check(*_: object) -> None:
        return None

    async def accelerator() -> Literal["tcg"]:
        return "tcg"

    monkeypatch.setattr(engines, "check", check)
    monkeypatch.setattr(engines, "accelerator", accelerator)
    monkeypatch.setattr(engines, "QemuInstances", Recorded)


@pytest.mark.usefixtures("capable_host")
async def test_real_guests_are_told_the_name_servers_of_their_region(tmp_path: Path) -> None:
    bindings = await bind_engines(Settings(state=tmp_path), load(None), Clock())
    (real,) = [binding.engine for binding in bindings.instances if binding.real]
    assert isinstance(real, Recorded)
    servers = ("9.9.9.9", "149.112.112.112", "2620:fe::fe", "2620:fe::9")
    assert real.arguments[-1] == tuple(map(ip_address, servers))
