"""The engines that regions are bound to."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from roost.app.engines import EngineUnavailableError, bind_engines
from roost.clock import Clock
from roost.core.catalog import Catalog, load
from roost.core.catalog.entries import CephEntry, EngineKind, RegionEntry
from roost.core.engine import EngineError
from roost.core.planes import Engines
from roost.engines.databases.limits import Limits
from roost.engines.mariadb import providers as mariadb
from roost.engines.postgresql import providers as postgresql
from roost.engines.qemu import providers
from roost.engines.qemu.rbd.cluster import Cluster
from roost.engines.qemu.volumes.rbd_source import RbdSource
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.object_storage.engine import OBJECT_PLANE
from roost.resources.volumes.engine import VOLUME_PLANE
from roost.secrets import Box
from roost.settings import Settings


class Recorded:
    """Stands for QemuInstances, which has no way to tell what it was given."""

    name = "qemu"

    def __init__(self, *arguments: object) -> None:
        self.arguments = arguments


@pytest.fixture
def capable_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real engines would run here."""

    async def check(*_: object) -> None:
        return None

    async def accelerator() -> Literal["tcg"]:
        return "tcg"

    async def version() -> str:
        return "10.11.1"

    async def versions() -> dict[str, str]:
        return {"15": "15.18"}

    monkeypatch.setattr(providers, "check", check)
    monkeypatch.setattr(providers, "accelerator", accelerator)
    monkeypatch.setattr(providers, "QemuInstances", Recorded)
    monkeypatch.setattr(providers, "haproxy", lambda: "/usr/sbin/haproxy")
    monkeypatch.setattr(mariadb, "check", check)
    monkeypatch.setattr(mariadb, "server_version", version)
    monkeypatch.setattr(postgresql, "check", check)
    monkeypatch.setattr(postgresql, "versions", versions)
    monkeypatch.setattr(Limits, "problem", lambda _: None)


@pytest.mark.usefixtures("capable_host")
async def test_real_guests_are_told_the_name_servers_of_their_region(tmp_path: Path) -> None:
    catalog = load(None)
    engines = await bind(Settings(state=tmp_path), catalog, Clock())
    bindings = engines.bindings_of(INSTANCE_PLANE)
    (real,) = [binding.engine for binding in bindings if binding.real]
    assert isinstance(real, Recorded)
    servers = catalog.regions[0].resolvers
    assert real.arguments[-2:] == ((*servers.ipv4, *servers.ipv6), None)


def wishing(region: RegionEntry, engine: EngineKind, **engines: str) -> Catalog:
    catalog = load(None)
    catalog.regions[:] = [region.model_copy(update={"engine": engine, "engines": engines})]
    return catalog


@pytest.fixture
def region() -> RegionEntry:
    return load(None).regions[0]


async def bind(settings: Settings, catalog: Catalog, clock: Clock) -> Engines:
    Box.from_file(settings.sealing_key)
    return Engines(await bind_engines(settings, catalog, clock))


def bound(engines: Engines) -> list[tuple[str, str, bool, str]]:
    """But for objects, which need nothing of the others."""
    return [
        (each.plane, each.engine.name, each.real, each.why)
        for each in engines.bindings
        if each.plane != OBJECT_PLANE.name
    ]


@pytest.mark.usefixtures("capable_host")
@pytest.mark.parametrize("engines", [{}, {"instances": "qemu"}, {"volumes": "qemu"}])
async def test_local_is_the_first_real_engine_of_each_data_plane(
    tmp_path: Path, region: RegionEntry, engines: dict[str, str]
) -> None:
    catalog = wishing(region, "local", **engines)
    found = await bind(Settings(state=tmp_path), catalog, Clock())
    assert bound(found) == [
        ("instances", "qemu", True, "QEMU with TCG"),
        ("firewalls", "nftables", True, "nftables"),
        ("volumes", "qemu", True, "files for QEMU"),
        ("nodebalancers", "haproxy", True, "HAProxy"),
        ("databases", "mariadb", True, "MariaDB 10.11.1"),
        ("postgresql", "postgresql", True, "PostgreSQL 15.18"),
    ]


@pytest.mark.usefixtures("capable_host")
async def test_each_data_plane_is_bound_by_itself(tmp_path: Path, region: RegionEntry) -> None:
    catalog = wishing(
        region,
        "simulated",
        instances="qemu",
        volumes="qemu",
        firewalls="nftables",
        nodebalancers="haproxy",
        databases="mariadb",
        postgresql="postgresql",
    )
    found = await bind(Settings(state=tmp_path), catalog, Clock())
    assert all(binding.real for binding in found.bindings)


@pytest.fixture
def ceph(capable_host: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CephEntry:
    """A cluster that this host can speak with."""
    monkeypatch.setattr(providers, "missing_packages", lambda: ())
    (tmp_path / "ceph.conf").touch()
    return CephEntry(conf=str(tmp_path / "ceph.conf"), pool="cloud")


async def test_volumes_are_in_a_storage_cluster_by_the_catalogues_wish(
    tmp_path: Path, region: RegionEntry, ceph: CephEntry
) -> None:
    """The guests of the region open them there."""
    catalog = wishing(region.model_copy(update={"ceph": ceph}), "local", volumes="ceph")
    found = await bind(Settings(state=tmp_path), catalog, Clock())
    assert ("volumes", "ceph", True, "RBD images in Ceph's pool cloud") in bound(found)
    guests = found.of(INSTANCE_PLANE, region.id)
    assert isinstance(guests, Recorded)
    source = guests.arguments[-1]
    assert isinstance(source, RbdSource)
    assert source.cluster == Cluster(Path(ceph.conf), "roost", "cloud", region.id)


@pytest.mark.parametrize(
    ("host", "conf", "reason"),
    [
        ("second", None, "only the main host has volumes of a storage cluster"),
        ("main", "/nowhere/ceph.conf", "there is no /nowhere/ceph.conf"),
    ],
)
async def test_a_storage_cluster_that_cannot_be_used_is_not_bound(
    tmp_path: Path, region: RegionEntry, ceph: CephEntry, host: str, conf: str | None, reason: str
) -> None:
    entry = ceph.model_copy(update={"conf": conf or ceph.conf})
    catalog = wishing(region.model_copy(update={"ceph": entry}), "local", volumes="ceph")
    settings = Settings(state=tmp_path, engines="local", host=host)
    with pytest.raises(EngineUnavailableError, match=reason):
        await bind(settings, catalog, Clock())


async def test_volumes_are_simulated_where_guests_are(tmp_path: Path, region: RegionEntry) -> None:
    simulated = dict.fromkeys(("instances", "databases", "postgresql"), "simulated")
    catalog = wishing(region, "local", **simulated)
    found = await bind(Settings(state=tmp_path), catalog, Clock())
    assert bound(found) == [
        ("instances", "simulated", False, "the catalogue says so"),
        ("firewalls", "simulated", False, "its guests are simulated"),
        ("volumes", "simulated", False, "its guests are simulated"),
        ("nodebalancers", "simulated", False, "its guests are simulated"),
        ("databases", "simulated", False, "the catalogue says so"),
        ("postgresql", "simulated", False, "the catalogue says so"),
    ]


@pytest.mark.usefixtures("capable_host")
@pytest.mark.parametrize(
    ("engines", "reason"),
    [
        ({"volumes": "simulated"}, "guests of the engine qemu cannot use simulated volumes"),
        ({"firewalls": "simulated"}, "guests of the engine qemu send real packets"),
        ({"volumes": "zfs"}, "there is no engine zfs for volumes"),
        ({"instances": "powerdns"}, "there is no engine powerdns for instances"),
        ({"boats": "qemu"}, "there are no boats"),
    ],
)
async def test_engines_that_do_not_fit_are_refused(
    tmp_path: Path, region: RegionEntry, engines: dict[str, str], reason: str
) -> None:
    catalog = wishing(region, "local", **engines)
    with pytest.raises(EngineUnavailableError) as refused:
        await bind(Settings(state=tmp_path), catalog, Clock())
    assert str(refused.value) == f"region local: {reason}"


@dataclass
class Row:
    region: str
    engine: str | None


async def test_only_the_engine_that_holds_a_row_is_found(tmp_path: Path) -> None:
    engines = await bind(Settings(state=tmp_path, engines="simulated"), load(None), Clock())
    engine = engines.of(VOLUME_PLANE, "us-lake")
    assert engine.name == "simulated"
    for held in ("simulated", None):
        assert engines.holding(VOLUME_PLANE, Row("us-lake", held)) is engine
    for row in (Row("us-lake", "qemu"), Row("atlantis", "simulated")):
        with pytest.raises(EngineError) as refused:
            engines.holding(VOLUME_PLANE, row)
        assert str(refused.value) == f"Region {row.region} is not served by this worker."


@pytest.mark.parametrize("engines", ["auto", "simulated"])
async def test_object_storage_is_real_everywhere(
    tmp_path: Path, region: RegionEntry, engines: Literal["auto", "simulated"]
) -> None:
    settings = Settings(state=tmp_path, engines=engines)
    for _ in range(2):
        (found,) = (await bind(settings, wishing(region, "simulated"), Clock())).bindings_of(
            OBJECT_PLANE
        )
        assert (found.engine.name, found.real) == ("seaweedfs", True)
        assert found.why.startswith("SeaweedFS, S3 at http://127.0.0.1:")
        assert (await found.engine.health()).detail == "SeaweedFS, not needed yet"


async def test_object_storage_is_simulated_where_that_is_wanted(
    tmp_path: Path, region: RegionEntry
) -> None:
    for settings, catalog in (
        (Settings(state=tmp_path, objects_engine="simulated"), wishing(region, "local")),
        (Settings(state=tmp_path), wishing(region, "local", objects="simulated")),
    ):
        (found,) = (await bind(settings, catalog, Clock())).bindings_of(OBJECT_PLANE)
        assert (found.engine.name, found.real) == ("simulated", False)
