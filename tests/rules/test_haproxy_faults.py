"""What is made of an HAProxy that says nothing, and of a folder that cannot go."""

import asyncio
import shutil
from ipaddress import IPv4Interface, IPv6Interface
from pathlib import Path

import pytest

from roost.core.engine import EngineError
from roost.engines.qemu.balancers import engine
from roost.engines.qemu.balancers.engine import HaproxyBalancers
from roost.engines.qemu.balancers.stats import ask_worker, in_force
from roost.engines.qemu.network.config import NetworkConfig
from roost.engines.qemu.network.network import GuestNetwork


async def test_a_worker_that_says_nothing_yet_has_not_counted_nothing(tmp_path: Path) -> None:
    async def close(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    socket = tmp_path / "master.sock"
    async with await asyncio.start_unix_server(close, str(socket)):
        with pytest.raises(EngineError, match="do not answer"):
            await ask_worker(socket, "show stat")
        assert await in_force(socket) is None


async def test_what_does_not_go_is_a_fault_of_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who ends guests too goes on with those."""

    def busy(path: Path) -> None:
        raise PermissionError(1, "Operation not permitted", str(path))

    monkeypatch.setattr(engine, "RUN", tmp_path)
    network = NetworkConfig((IPv4Interface("192.0.2.1/24"),), IPv6Interface("2001:db8::1/64"))
    balancers = HaproxyBalancers(tmp_path, network)
    await balancers.shut_down()  # Nothing is there.
    (tmp_path / GuestNetwork(tmp_path, network).name).mkdir()
    monkeypatch.setattr(shutil, "rmtree", busy)
    with pytest.raises(EngineError):
        await balancers.shut_down()
