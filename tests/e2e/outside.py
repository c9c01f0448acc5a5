"""The world outside of a region, in a namespace: a web server with packages for guests."""

import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pymysql

from tests.engines.hosts import NamedHost
from tests.engines.qemu_host import output

PACKAGE = "roost-client"
"""What is to be installed: a client of databases, written in Python alone."""
_CONTROL = f"""\
Package: {PACKAGE}
Version: 1.0
Architecture: all
Maintainer: Roost <roost@example.com>
Description: PyMySQL
"""


@dataclass(frozen=True, slots=True)
class Outside:
    """`host` is the address of this machine on that side, `source` what apt is told."""

    host: str
    source: str


@contextmanager
def opened_outside(folder: Path, number: int) -> Iterator[Outside]:
    """`number`: of a network that nobody else of this machine uses, below 63."""
    near, far = (f"198.51.100.{4 * number + each}" for each in (1, 2))
    _make_packages(folder)
    world = NamedHost(f"roost-out{number}")
    try:
        link = f"world{number}"  # Not like those of regions, which the host does not route for.
        output("ip", "link", "add", link, "type", "veth", "peer", "eth0", "netns", world.name)
        output("ip", "address", "add", f"{near}/30", "dev", link)
        output("ip", "link", "set", link, "up")
        world.ip("link", "set", "eth0", "up")
        world.address("eth0", f"{far}/30")
        server = world.run(_listen(far, folder))
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield Outside(near, f"deb [trusted=yes] http://{far}:{server.server_port} ./")
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
    finally:
        world.close()


async def _listen(address: str, folder: Path) -> ThreadingHTTPServer:
    """Its socket belongs to where it is made."""
    return ThreadingHTTPServer((address, 0), partial(_Quiet, directory=str(folder)))


class _Quiet(SimpleHTTPRequestHandler):
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nobody needs it."""


def _make_packages(folder: Path) -> None:
    """One package, and the list of it that apt reads."""
    tree = folder / "tree"
    library = tree / "usr/lib/python3/dist-packages/pymysql"
    shutil.copytree(Path(pymysql.__file__).parent, library)
    (tree / "DEBIAN").mkdir(mode=0o755)
    (tree / "DEBIAN/control").write_text(_CONTROL)
    package = folder / f"{PACKAGE}.deb"
    subprocess.run(("dpkg-deb", "--build", "--root-owner-group", tree, package), check=True)
    content = package.read_bytes()
    told = {
        "Filename": f"./{package.name}",
        "Size": len(content),
        "SHA256": hashlib.sha256(content).hexdigest(),
    }
    lines = "".join(f"{name}: {value}\n" for name, value in told.items())
    (folder / "Packages").write_text(_CONTROL + lines)
