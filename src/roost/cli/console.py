"""`roost console`: a guest's serial console, to type in."""

import asyncio
import os
import socket
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from roost.app.operator import instances
from roost.app.state import open_store
from roost.cli.options import ID, read_served_settings, roost_options, run
from roost.settings import Settings

_END = b"\x1d"
"""Ctrl-]"""
_CHUNK = 64 * 1024


@click.command()
@roost_options
@click.argument("compute_id", type=ID, metavar="ID")
def console(state: Path | None, engines: str | None, catalog: Path | None, compute_id: int) -> None:
    """Type in the serial console of a guest; Ctrl-] ends.

    One at a time; `roost instance console` shows what was written before.
    """
    settings = read_served_settings(state=state, engines=engines, catalog=catalog)
    run(_type(settings, compute_id))


async def _type(settings: Settings, compute_id: int) -> None:
    async with open_store(settings) as store:
        connection = await instances.terminal(store, settings, compute_id)
    with connection:
        click.echo("Connected; Ctrl-] ends.", err=True)
        with _raw(sys.stdin.fileno()):
            await join(connection, sys.stdin.fileno(), sys.stdout.fileno())


async def join(connection: socket.socket, keyboard: int, screen: int) -> None:
    """Carry what is typed to the guest and what it writes to the screen, until either ends."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def typed() -> None:
        keys, end, _ = os.read(keyboard, _CHUNK).partition(_END)
        connection.sendall(keys)
        if end or not keys:
            ended.set()

    def written() -> None:
        output = connection.recv(_CHUNK)
        while output:
            output = output[os.write(screen, output) :]
            if not output:
                return
        ended.set()

    connection.setblocking(True)
    with _reading(loop, keyboard, typed), _reading(loop, connection.fileno(), written):
        await ended.wait()


@contextmanager
def _reading(
    loop: asyncio.AbstractEventLoop, descriptor: int, act: Callable[[], None]
) -> Iterator[None]:
    loop.add_reader(descriptor, act)
    try:
        yield
    finally:
        loop.remove_reader(descriptor)


@contextmanager
def _raw(terminal: int) -> Iterator[None]:
    """Every key goes to the guest, also Ctrl-C. Nothing is changed of what is no terminal."""
    if not os.isatty(terminal):
        yield
        return
    before = termios.tcgetattr(terminal)
    tty.setraw(terminal)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
