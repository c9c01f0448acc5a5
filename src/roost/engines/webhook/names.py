"""What names of receivers mean, asked in threads of their own.

A name server that does not answer keeps a thread for half a minute. In the event loop's few threads
it would keep everybody from asking, and this process from its database.
"""

import socket

from aiohttp.abc import AbstractResolver, ResolveResult

from roost.threads import NAMES


class Names(AbstractResolver):
    """The resolver of this host."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """All addresses of a name; OSError when it has none."""
        found = await NAMES.run(
            socket.getaddrinfo, host, port, family, socket.SOCK_STREAM, 0, socket.AI_ADDRCONFIG
        )
        return [
            ResolveResult(
                hostname=host,
                host=str(address[0]),
                port=port,
                family=of,
                proto=protocol,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for of, _, protocol, _, address in found
        ]

    async def close(self) -> None:
        """Nothing is kept."""
