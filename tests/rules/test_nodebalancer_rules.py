"""What is served of a certificate, and what counters of NodeBalancers show."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.support.certificates import certificate_for

from roost.resources.nodebalancers.certificate_rules import read
from roost.resources.nodebalancers.engine import BalancerTraffic
from roost.resources.nodebalancers.usage_queries import Reading
from roost.resources.nodebalancers.usage_service import since

NOW = datetime.now(UTC).replace(tzinfo=None)
LAST = Reading(1, 1, "us-lake", NOW, "one", 10, 100, 1000)


def test_nothing_but_certificates_is_served() -> None:
    """A server would take keys and parameters that stand between them."""
    authority = certificate_for()
    own = certificate_for("shop.example.com", issuer=authority)
    strange = certificate_for("shop.example.com").key_pem
    served = read(f"{own.pem}{strange}words\n{authority.pem}", own.key_pem, NOW)
    assert served.certificate == f"{own.pem}{authority.pem}"


@pytest.mark.parametrize("name", ["shop\0", "a\nb"], ids=repr)
def test_a_name_that_cannot_be_shown(name: str) -> None:
    found = certificate_for(name, "shop.example.com")
    assert read(found.pem, found.key_pem, NOW).commonname == "shop.example.com"


def test_counters_that_go_on() -> None:
    seen = BalancerTraffic("one", 11, 102, 1003)
    assert since(LAST, seen) == BalancerTraffic("one", 1, 2, 3)


def test_counters_that_began_anew_are_never_less_than_nothing() -> None:
    """Those of one that was not served for a while, in a network that stayed."""
    seen = BalancerTraffic("one", 4, 5, 6)
    assert since(LAST, seen) == seen
    assert since(LAST, replace(seen, epoch="two")) == replace(seen, epoch="two")
