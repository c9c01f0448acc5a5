"""A process that supervises a server until SIGTERM: `serve_child.py STATE PROGRAMS`."""

import asyncio
import signal
import sys
from pathlib import Path

from roost.store.cluster import SETTINGS
from roost.store.embedded import EmbeddedServer


async def main() -> None:
    settings = {name: value for name, value in SETTINGS.items() if name != "io_method"}
    server = EmbeddedServer(Path(sys.argv[1]), Path(sys.argv[2]), settings)
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    await server.start()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await stopped.wait()
    await server.stop()


asyncio.run(main())
