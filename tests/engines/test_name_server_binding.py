"""Which engine answers DNS."""

from pathlib import Path

import pytest

from roost.app import powerdns
from roost.app.engines import EngineUnavailableError
from roost.app.name_server import bind_dns, start_dns, with_addresses
from roost.clock import Clock
from roost.resources.domains import holder_queries
from roost.settings import Settings
from roost.store import Queries, Store

_MISSING = "these packages are not installed: pdns-server"


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> "Host":
    return Host(monkeypatch)


class Host:
    """PowerDNS can run here, and no engine holds domains, unless a test says otherwise."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reason: str | None = None
        self.holder: str | None = None
        monkeypatch.setattr(powerdns, "check", lambda _: self.reason)

        async def find_holder(_: Queries) -> str | None:
            return self.holder

        monkeypatch.setattr(holder_queries, "find_holder", find_holder)


async def bound(store: Store, state: Path, **settings: object) -> tuple[str, bool, str]:
    binding = await bind_dns(Settings.model_validate({"state": state, **settings}), Clock(), store)
    await binding.engine.close()
    return binding.engine.name, binding.real, binding.why


async def test_what_is_wished_and_what_is_there_decide(
    store: Store, tmp_path: Path, host: Host
) -> None:
    for reason, holder, settings, name, why in (
        (None, None, {}, "powerdns", "PowerDNS with a file of its own"),
        (_MISSING, None, {}, "simulated", _MISSING),
        (None, "simulated", {}, "simulated", "it holds the zones"),
        (None, "powerdns", {}, "powerdns", "PowerDNS with a file of its own"),
        (None, None, {"engines": "simulated"}, "simulated", "only simulated engines are wanted"),
        (None, None, {"engines": "local"}, "powerdns", "PowerDNS with a file of its own"),
        (None, "simulated", {"engines": "local"}, "powerdns", "PowerDNS with a file of its own"),
        (None, None, {"dns_engine": "simulated"}, "simulated", "only simulated engines are wanted"),
        (
            None,
            "simulated",
            {"engines": "simulated", "dns_engine": "powerdns"},
            "powerdns",
            "PowerDNS with a file of its own",
        ),
        (
            None,
            None,
            {"dns_database_url": "postgresql://host/database"},
            "powerdns",
            "PowerDNS with PostgreSQL",
        ),
        (
            None,
            "simulated",
            {"engines": "simulated"},
            "simulated",
            "only simulated engines are wanted",
        ),
    ):
        host.reason, host.holder = reason, holder
        assert await bound(store, tmp_path, **settings) == (name, name == "powerdns", why)


async def test_what_cannot_run_is_named(store: Store, tmp_path: Path, host: Host) -> None:
    for holder, settings, text in (
        ("powerdns", {}, _MISSING),
        (None, {"engines": "local"}, _MISSING),
        (None, {"dns_engine": "powerdns"}, _MISSING),
        (None, {"dns_listen": "ns1.example.com:53"}, "ROOST_DNS_LISTEN: 'ns1.example.com:53'"),
        (None, {"powerdns_url": "http://127.0.0.1:1"}, "needs ROOST_POWERDNS_KEY_FILE"),
    ):
        host.reason, host.holder = _MISSING, holder
        with pytest.raises(EngineUnavailableError, match=text):
            await bound(store, tmp_path, **settings)


async def test_an_operators_server_is_reached_when_it_starts(
    store: Store, tmp_path: Path, host: Host
) -> None:
    settings = Settings(
        state=tmp_path,
        powerdns_url="http://127.0.0.1:1",
        powerdns_key_file=tmp_path / "key",
        dns_listen="192.0.2.1:53",
    )
    binding = await bind_dns(settings, Clock(), store)
    why = "PowerDNS of http://127.0.0.1:1, at 192.0.2.1:53"
    shown = with_addresses(binding)
    assert (shown.place, shown.plane, shown.real, shown.why) == ("all", "dns", True, why)
    with pytest.raises(EngineUnavailableError, match="DNS: The key"):
        await start_dns(binding)
    await binding.engine.close()


async def test_nobody_holds_the_zones_while_there_are_none(store: Store) -> None:
    await holder_queries.set_holder(store, "powerdns")
    assert await holder_queries.find_holder(store) is None
    await holder_queries.set_holder(store, "simulated")
    stored = await store.fetchval("select value ->> 'name' from setting where key = 'dns_engine'")
    assert stored == "simulated"
