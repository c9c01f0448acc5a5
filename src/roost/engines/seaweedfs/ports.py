"""The ports of a region's server: apart from each other, and from those of the other regions, also
of servers that are not started yet and hold none of theirs."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from roost.engines.listeners import free_tcp_port, tcp_port_is_free
from roost.engines.seaweedfs import keeping

_S3 = "s3"
_PARTS = (_S3, "master", "volume", "filer")
_NAMES = (*_PARTS, *(f"{part}.grpc" for part in _PARTS), "inner")
"""In the order in which they are settled: clients know the first one, which stays where it can. It
is the gateway's; the S3 behind that has `inner`."""


class Ports:
    """They are in a file of the region's folder, beside the folders of the others."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "ports.json"

    def read(self) -> dict[str, int]:
        """By name, such as `s3` or `filer.grpc`. FileNotFoundError before they are settled."""
        return _read(self._file)

    def are_settled(self) -> bool:
        """Whether there are any, and nobody else is going to have one of them."""
        with self._held():
            try:
                ports = self.read()
            except FileNotFoundError:
                return False
            return ports == self._kept(ports)

    def settle(self, *, is_attended: bool = False) -> None:
        """As they were last, but for those that somebody else has. Blocks: for a thread.

        `is_attended`: who listens at the S3 port passes it on to the server.

        Raises ListenerError when too few ports are free.
        """
        with self._held():
            last = dict[str, int]()
            with suppress(FileNotFoundError):
                last = self.read()
            kept = {
                name: port
                for name, port in self._kept(last).items()
                if (is_attended and name == _S3) or tcp_port_is_free(port)
            }
            taken = {*kept.values(), *(port for ports in self._others() for port in ports.values())}
            ports = dict[str, int]()
            for name in _NAMES:
                ports[name] = kept.get(name) or free_tcp_port(taken)
                taken.add(ports[name])
            keeping.write(self._file, json.dumps(ports))

    def _kept(self, ports: dict[str, int]) -> dict[str, int]:
        """Those that nothing else of ours has; of two the S3 port is kept."""
        others = list(self._others())
        known = {each[_S3] for each in others}
        all_of_others = {port for each in others for port in each.values()}
        kept = dict[str, int]()
        for name in _NAMES:
            port = ports.get(name)
            if port in kept.values() or port in (known if name == _S3 else all_of_others):
                continue
            if port is not None:
                kept[name] = port
        return kept

    def _others(self) -> Iterator[dict[str, int]]:
        for file in self._folder.parent.glob(f"*/{self._file.name}"):
            if file != self._file:
                yield _read(file)

    @contextmanager
    def _held(self) -> Iterator[None]:
        """By one region at a time."""
        descriptor = os.open(self._folder.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _read(file: Path) -> dict[str, int]:
    found: dict[str, int] = json.loads(file.read_text())
    return found
