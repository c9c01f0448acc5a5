"""`roost console`: keys to the guest, output to the screen."""

import asyncio
import os
import socket
import subprocess
from typing import IO

import pytest

from roost.cli.console import join
from tests.cli.process import Server
from tests.cli.test_account import invoke


async def joined(typed: list[bytes], written: bytes) -> tuple[bytes, bytes]:
    """What the guest got and what the screen shows; the guest writes once it got something."""
    keyboard, keys = os.pipe()
    screen, shown = os.pipe()
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    loop = asyncio.get_running_loop()
    with ours, theirs:
        joining = asyncio.create_task(join(ours, keyboard, shown))
        got = b""
        for each in typed:
            os.write(keys, each)
            if each != b"\x1d":
                got += await loop.sock_recv(theirs, 100)
        await loop.sock_sendall(theirs, written)
        if typed[-1] != b"\x1d":
            theirs.close()
        await asyncio.wait_for(joining, 60)
    for descriptor in (keyboard, keys, shown):
        os.close(descriptor)
    with os.fdopen(screen, "rb") as output:
        return got, output.read()


async def test_both_ways_until_the_guest_is_gone() -> None:
    assert await joined([b"ls\n", b"\x03"], b"file\n") == (b"ls\n\x03", b"file\n")


async def test_until_the_key_that_ends() -> None:
    got, _ = await joined([b"exit\n", b"\x1d"], b"")
    assert got == b"exit\n"


async def test_what_was_typed_before_the_key_is_sent() -> None:
    keyboard, keys = os.pipe()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        os.write(keys, b"abc\x1ddef")
        await asyncio.wait_for(join(ours, keyboard, keyboard), 60)
        assert theirs.recv(100) == b"abc"
    os.close(keyboard)
    os.close(keys)


@pytest.mark.parametrize("compute_id", ["0", "x", "1.5"])
def test_what_is_no_instance(server: Server, compute_id: str) -> None:
    assert invoke(server, "console", compute_id).exit_code == 2


def test_one_that_is_not_there(server: Server) -> None:
    done = invoke(server, "console", "99999999")
    assert (done.exit_code, done.stderr) == (1, "Error: there is no instance 99999999\n")


def test_a_login(server: Server) -> None:
    compute_id = str(server.instance())
    command = [str(server.program), "console", compute_id, "--state", str(server.state)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0) as done:
        assert done.stdin is not None
        assert done.stdout is not None
        said = read_until(done.stdout, b"login: ")
        assert f"guest-{compute_id} login: ".encode() in said
        done.stdin.write(b"root\r")
        assert read_until(done.stdout, b"Login incorrect").startswith(b"root")
        done.stdin.write(b"\x1d")
        assert done.wait(60) == 0


def read_until(output: IO[bytes], words: bytes) -> bytes:
    text = b""
    while words not in text:
        data = output.read(1000)
        assert data, text
        text += data
    return text
