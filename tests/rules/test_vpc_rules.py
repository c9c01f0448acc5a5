"""Addresses and networks of VPCs."""

from ipaddress import IPv4Network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roost.resources.vpcs import rules

SUBNET = IPv4Network("10.0.1.0/27")
parts = st.lists(
    st.integers(27, 32).flatmap(
        lambda prefix: st.sampled_from(list(SUBNET.subnets(new_prefix=prefix)))
    ),
    max_size=12,
)


@given(taken=parts)
@settings(max_examples=200)
def test_the_first_address_that_nobody_has(taken: list[IPv4Network]) -> None:
    usable = list(SUBNET)[2:-2]
    free = [each for each in usable if not any(each in network for network in taken)]
    assert rules.first_free(SUBNET, taken) == next(iter(free), None)
    assert [each for each in SUBNET if rules.is_usable(each, SUBNET)] == usable


@pytest.mark.parametrize(
    ("network", "reason"),
    [
        ("10.0.1.8/29", None),
        ("10.0.1.2/31", None),
        ("10.0.1.28/31", None),
        ("172.16.0.0/12", None),
        ("10.0.1.0/31", "Must not have addresses of the first two or last two of 10.0.1.0/27"),
        ("10.0.1.30/31", "Must not have addresses of the first two or last two of 10.0.1.0/27"),
        ("10.0.1.0/27", "Must not have addresses of the first two or last two of 10.0.1.0/27"),
        ("10.0.0.0/16", "Must not overlap 10.0.1.0/27"),
        ("10.9.0.0/24", "Must not overlap 10.9.0.0/16"),
    ],
)
def test_what_is_routed_to_an_interface(network: str, reason: str | None) -> None:
    subnets = [SUBNET, IPv4Network("10.9.0.0/16")]
    assert rules.range_problem(IPv4Network(network), SUBNET, subnets) == reason
