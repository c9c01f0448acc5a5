"""Name servers that zones are imported from, and that mean no good; a query in DNS's own words."""

import asyncio
import struct
from collections.abc import Sequence

_CAA, _SOA, _TXT = 257, 6, 16
_MESSAGES = 250
"""Of 64 kB each: as much as a transfer may have."""
_SOA_DATA = b"\1a\xc0\x0c\1b\xc0\x0c" + struct.pack(">5I", 1, 3600, 600, 86400, 300)


async def silent() -> asyncio.Server:
    """It takes connections and says nothing."""

    async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    return await asyncio.start_server(keep, "127.0.0.1", 0)


async def hostile(texts: Sequence[str]) -> asyncio.Server:
    """Whatever zone it is asked for has CAA records with these texts, and is large."""
    soa = _record(_SOA, _SOA_DATA)
    records = [_caa(text) for text in texts]
    bodies = [soa, *(records[number % len(records)] for number in range(_MESSAGES)), soa]

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            (length,) = struct.unpack(">H", await reader.readexactly(2))
            asked = await reader.readexactly(length)
            question = asked[12 : asked.index(b"\0", 12) + 5]
            for body in bodies:
                head = asked[:2] + struct.pack(">5H", 0x8400, 1, 1, 0, 0)
                message = head + question + body
                writer.write(struct.pack(">H", len(message)) + message)
                await writer.drain()
        except (OSError, EOFError):
            pass
        finally:
            writer.close()

    return await asyncio.start_server(answer, "127.0.0.1", 0)


def query(name: str) -> bytes:
    """For texts, over UDP."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack(">6H", 1, 0x0100, 1, 0, 0, 0) + labels + struct.pack(">BHH", 0, _TXT, 1)


def _caa(text: str) -> bytes:
    tag = b"issue"
    return _record(_CAA, struct.pack(">BB", 0, len(tag)) + tag + text.encode())


def _record(kind: int, data: bytes) -> bytes:
    """Of the zone that the message's question names."""
    return struct.pack(">HHHIH", 0xC00C, kind, 1, 300, len(data)) + data
