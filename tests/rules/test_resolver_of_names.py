"""Who is asked whether a name leads to an address."""

from pathlib import Path

import pytest

from roost.app.dns import put_together
from roost.clock import Clock
from roost.core.catalog import load
from roost.engines.simulated.domains import SimulatedDomains
from roost.resources.domains.settings import Server
from roost.settings import Settings


def test_the_name_server_wherever_it_answers_by_now(tmp_path: Path) -> None:
    """It takes another port when its own was taken meanwhile."""
    engine = SimulatedDomains(tmp_path, 0, Clock(), None)
    (tmp_path / "domains.listener").write_text("127.0.0.1:5301")
    _, names = put_together(Settings(state=tmp_path), load(None), engine)
    assert names.resolver() == Server("127.0.0.1", 5301)
    (tmp_path / "domains.listener").write_text("127.0.0.1:5302")
    assert names.resolver() == Server("127.0.0.1", 5302)


def test_the_operators_choice(tmp_path: Path) -> None:
    engine = SimulatedDomains(tmp_path, 0, Clock(), None)
    settings = Settings(state=tmp_path, rdns_resolver="192.0.2.53:5353")
    dns, names = put_together(settings, load(None), engine)
    assert names.resolver() == dns.resolver == Server("192.0.2.53", 5353)


def test_a_resolver_must_be_an_address(tmp_path: Path) -> None:
    engine = SimulatedDomains(tmp_path, 0, Clock(), None)
    settings = Settings(state=tmp_path, rdns_resolver="resolver.example")
    with pytest.raises(ValueError, match="ROOST_RDNS_RESOLVER"):
        put_together(settings, load(None), engine)
