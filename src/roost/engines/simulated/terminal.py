"""The serial console of a simulated guest: a login that lets nobody in."""

import asyncio
import socket

_SECONDS = 3600.0
_CHUNK = 4096


async def open_terminal(name: str) -> socket.socket:
    """One end; the guest has the other one until the first is closed. It does not block."""
    near, far = socket.socketpair()
    for end in (near, far):
        end.setblocking(False)
    _guests.add(guest := asyncio.create_task(_answer(far, name)))
    guest.add_done_callback(_guests.discard)
    return near


_guests: set[asyncio.Task[None]] = set()
"""A loop itself remembers its tasks only as long as somebody else does."""


async def _answer(far: socket.socket, name: str) -> None:
    """What is typed is shown, and no name is right."""
    loop, login = asyncio.get_running_loop(), f"\r\n{name} login: ".encode()
    try:
        with far:
            async with asyncio.timeout(_SECONDS):
                await loop.sock_sendall(far, login)
                while keys := await loop.sock_recv(far, _CHUNK):
                    said = keys.replace(b"\n", b"\r").split(b"\r")
                    await loop.sock_sendall(far, (b"\r\nLogin incorrect\r\n" + login).join(said))
    except (OSError, TimeoutError):
        return
