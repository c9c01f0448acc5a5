"""The DNS servers of the host, for regions whose guests use the same."""

from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

HOST = "host"
"""What a catalogue says instead of addresses."""

FILES = (Path("/etc/resolv.conf"), Path("/run/systemd/resolve/resolv.conf"))
"""The second has those behind a resolver that listens on the loopback interface only."""

_PUBLIC = {"ipv4": ["9.9.9.9", "149.112.112.112"], "ipv6": ["2620:fe::fe", "2620:fe::9"]}
"""Where the host has none that guests could reach."""


def of_host(value: object) -> object:
    """The servers that `host` stands for; anything else as it is."""
    return host_resolvers() if value == HOST else value


def host_resolvers() -> dict[str, list[str]]:
    """By family, of the first file that names one that is reached from elsewhere."""
    for file in FILES:
        try:
            found = list(_reachable(file.read_text(encoding="utf-8", errors="replace")))
        except OSError:
            continue
        if found:
            ipv4 = [each for each in found if ":" not in each]
            return {"ipv4": ipv4, "ipv6": [each for each in found if ":" in each]}
    return _PUBLIC


def _reachable(text: str) -> Iterator[str]:
    for line in text.splitlines():
        match line.split():
            case ["nameserver", value, *_]:
                pass
            case _:
                continue
        try:
            address = ip_address(value)
        except ValueError:
            continue
        if not (address.is_loopback or address.is_link_local or address.is_unspecified):
            yield str(address)
