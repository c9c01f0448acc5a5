"""Which range is free, and how ranges are written (spec B networking 5)."""

from ipaddress import IPv6Network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from roost.resources.networking.rules import check_assigned, check_ipv6, check_shared, first_free

POOL = IPv6Network("2001:db8:7::/55")


@settings(max_examples=50, deadline=None)  # Machines that run tests may be busy.
@given(st.lists(st.sampled_from([56, 64]), max_size=12), st.sampled_from([56, 64]))
def test_ranges_never_overlap(wanted: list[int], last: int) -> None:
    """Each is the lowest that is free; a pool is exhausted when nothing fits any more."""
    taken: list[IPv6Network] = []
    for prefix in (*wanted, last):
        found = first_free(POOL, prefix, taken)
        blocks = list(POOL.subnets(new_prefix=prefix))
        free = [b for b in blocks if not any(b.overlaps(each) for each in taken)]
        assert found == (free[0] if free else None)
        if found is not None:
            taken.append(found)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:DB8:0::/64", "2001:db8::/64"),
        ("2001:db8:0:100::/56", "2001:db8:0:100::/56"),
    ],
)
def test_what_can_be_assigned(text: str, written: str) -> None:
    assert check_assigned(text) == written


@pytest.mark.parametrize(
    "text", ["", "2001:db8::", "2001:db8::/48", "2001:db8::1/64", "2001:db8::/64/64", "::ffff/a"]
)
def test_what_cannot_be_assigned(text: str) -> None:
    with pytest.raises(PydanticCustomError):
        check_assigned(text)


@pytest.mark.parametrize("text", ["", "2001:db8::/64", "fe80::1%eth0", "192.0.2.300", "a"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(PydanticCustomError):
        check_ipv6(text)
    if "%" not in text:
        with pytest.raises(PydanticCustomError):
            check_shared(text)
