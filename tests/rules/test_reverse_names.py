"""Zones of reverse DNS and the addresses in them."""

from ipaddress import ip_address, ip_network

import pytest

from roost.resources.reverse_dns.rules import network_of, pool_zone


@pytest.mark.parametrize(
    ("address", "pool", "network"),
    [
        ("198.51.100.7", "198.51.100.0/24", "198.51.100.0/24"),
        ("10.1.2.3", "10.1.0.0/16", "10.1.2.0/24"),
        ("2001:db8:100::7", "2001:db8:100::/64", "2001:db8:100::/64"),
        ("2001:db8:100::7", "2001:db8::/32", "2001:db8::/32"),
    ],
)
def test_a_zone_says_its_network(address: str, pool: str, network: str) -> None:
    assert network_of(pool_zone(ip_address(address), ip_network(pool))) == ip_network(network)
