"""How ranges and their targets are written (spec B networking 5)."""

import pytest
from pydantic_core import PydanticCustomError

from roost.resources.networking.rules import check_assigned, check_ipv6, check_shared


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
    with pytest.raises(PydanticCustomError):
        check_shared(text)
