"""Listening to guests that go off; what engines tell of them is in the instance contract."""

import asyncio
from pathlib import Path

import pytest

from roost.engines.processes import Process
from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.guests.endings import Endings

_NOBODY = Process(2**22 + 1, "no such process")


@pytest.mark.parametrize("turns", range(8))
async def test_listening_can_be_ended_while_a_guest_goes_off(tmp_path: Path, turns: int) -> None:
    """In whichever turn of the event loop after the guest's end it is cancelled."""
    endings, heard = Endings(tmp_path), list[int]()

    async def listen() -> None:
        async for compute_id in endings.listen():
            heard.append(compute_id)

    listening = asyncio.create_task(listen())
    while not heard:  # It does not listen yet.
        endings.follow(Guest(tmp_path, 1), _NOBODY)
        await _pass(10)
    endings.follow(Guest(tmp_path, 2), _NOBODY)
    await _pass(turns)
    listening.cancel()
    done, _ = await asyncio.wait([listening], timeout=120)
    assert done == {listening}
    assert listening.cancelled()


async def _pass(turns: int) -> None:
    for _ in range(turns):
        await asyncio.sleep(0)
