"""The catalogue file: what Roost ships is sound, and every fault is named by its path."""

from pathlib import Path

import pytest

from roost.core.catalog import Catalog, CatalogError, load
from roost.core.catalog.loader import parse

EXAMPLES = Path(__file__).parents[2] / "examples" / "catalogs"

SMALL = """
[[regions]]
id = "home"
label = "Home"
country = "nl"
engine = "local"
capabilities = ["Computes"]
resolvers = { ipv4 = ["9.9.9.9"], ipv6 = [] }
public_ipv4 = [{ cidr = "198.51.100.0/24", gateway = "198.51.100.1" }]
private_ipv4 = ["192.168.128.0/20"]
ipv6 = { cidr = "2001:db8:1::/64", gateway = "2001:db8:1::1" }

[regions.availability]
big = false

[[regions]]
id = "lab"
label = "Lab"
country = "nl"
engine = "simulated"
capabilities = ["Computes", "GPU Computes"]
resolvers = { ipv4 = [], ipv6 = [] }
public_ipv4 = [{ cidr = "198.18.0.0/16", gateway = "198.18.0.1" }]
private_ipv4 = ["192.168.144.0/20"]
ipv6 = { cidr = "2001:db8:2::/64", gateway = "2001:db8:2::1" }

[[compute_types]]
id = "big"
label = "Big"
class = "gpu"
vcpus = 8
memory = 8192
disk = 8192
transfer = 1
network_out = 1
gpus = 1
price = { hourly = 1, monthly = 2.5 }
region_prices = [{ id = "lab", hourly = 1.0, monthly = 3.0 }]
addons.backups.price = { hourly = 0.1, monthly = 2.0 }

[[compute_types]]
id = "tiny"
label = "Tiny"
class = "nanode"
vcpus = 1
memory = 256
disk = 512
transfer = 1
network_out = 1
price = { hourly = 0.0, monthly = 0.0 }
addons.backups.price = { hourly = 0.0, monthly = 0.0 }
successor = "big"

[[kernels]]
id = "roost/k"
label = "K"
version = "1"
architecture = "x86_64"
pvops = true
built = 2024-01-02T03:04:05

[[images]]
id = "roost/mini"
label = "Mini"
vendor = "Roost"
size = 64
created = 2024-01-02T03:04:05
runs_scripts = true

[[images]]
id = "roost/plain"
label = "Plain"
vendor = "Roost"
size = 64
created = 2024-01-02T03:04:05
"""


@pytest.fixture
def small() -> Catalog:
    return parse(SMALL, "small")


def test_the_default_has_one_local_region_and_two_simulated() -> None:
    catalog = load(None)
    assert [region.engine for region in catalog.regions] == ["local", "simulated", "simulated"]
    assert catalog.find_image("roost/mini") is not None
    assert catalog.type("g1-micro-1").memory == 512


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_examples_are_sound(path: Path) -> None:
    assert all(region.engine == "simulated" for region in load(path).regions)


def test_lookups(small: Catalog) -> None:
    assert small.find_region("nowhere") is None
    assert small.find_type("nothing") is None
    assert small.find_image("roost/nothing") is None
    assert str(small.ipv6_network("lab")) == "2001:db8:2::/64"
    with pytest.raises(KeyError):
        small.type("nothing")


@pytest.mark.parametrize(
    ("region", "plan", "offered"),
    [
        ("home", "tiny", True),
        ("home", "big", False),
        ("lab", "big", True),
        ("nowhere", "tiny", False),
        ("home", "nothing", False),
    ],
)
def test_offers(small: Catalog, region: str, plan: str, offered: bool) -> None:
    assert small.offers(region, plan) is offered


def test_a_class_needs_its_capability() -> None:
    text = SMALL.replace(', "GPU Computes"', "")
    assert not parse(text, "small").offers("lab", "big")


def test_a_region_may_start_only_images_on_disk(small: Catalog) -> None:
    assert small.offers_image("home", "roost/plain")
    small.limit_images("home", {"roost/mini", "roost/unlisted"}.__contains__)
    assert small.offers_image("home", "roost/mini")
    assert not small.offers_image("home", "roost/plain")
    assert not small.awaits_image("home", "roost/plain")
    assert not small.offers_image("home", "roost/unlisted")
    assert small.offers_image("lab", "roost/plain")
    assert not small.offers_image("nowhere", "roost/plain")
    small.limit_images("home", {"roost/mini"}.__contains__, {"roost/plain"}.__contains__)
    assert small.offers_image("home", "roost/plain")
    assert small.awaits_image("home", "roost/plain")
    assert not small.awaits_image("home", "roost/mini")
    assert not small.awaits_image("lab", "roost/plain")


def test_user_data(small: Catalog) -> None:
    mini, plain = small.find_image("roost/mini"), small.find_image("roost/plain")
    assert mini is not None
    assert mini.takes_user_data
    assert plain is not None
    assert not plain.takes_user_data


RESOLVED = """\
# made by hand
search example.org
nameserver 10.1.2.3
nameserver\t2001:db8::53
nameserver fe80::1%eth0
nameserver nonsense
options ndots:2
"""


@pytest.mark.parametrize(
    ("files", "ipv4", "ipv6"),
    [
        ((RESOLVED,), ["10.1.2.3"], ["2001:db8::53"]),
        (("nameserver 127.0.0.53\n", RESOLVED), ["10.1.2.3"], ["2001:db8::53"]),
        (("nameserver ::1\n", ""), ["9.9.9.9", "149.112.112.112"], ["2620:fe::fe", "2620:fe::9"]),
        ((), ["9.9.9.9", "149.112.112.112"], ["2620:fe::fe", "2620:fe::9"]),
    ],
)
def test_the_resolvers_of_the_host(
    files: tuple[str, ...],
    ipv4: list[str],
    ipv6: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paths = tuple(tmp_path / name for name in ("first", "second"))
    for path, text in zip(paths, files, strict=False):
        path.write_text(text)
    monkeypatch.setattr("roost.core.catalog.resolvers.FILES", paths)
    catalog = parse(SMALL.replace('{ ipv4 = ["9.9.9.9"], ipv6 = [] }', '"host"'), "small")
    found = catalog.regions[0].resolvers
    assert [str(each) for each in found.ipv4] == ipv4
    assert [str(each) for each in found.ipv6] == ipv6


def priced_transfer(region: str) -> tuple[str, str]:
    """A table before the first one of the file."""
    price = f'[transfer_price]\nprice = 1.0\nregion_prices = [{{ id = "{region}", price = 2.0 }}]'
    return '[[regions]]\nid = "home"', f'{price}\n[[regions]]\nid = "home"'


BROKEN: list[tuple[str, str, str]] = [
    ('id = "home"', 'id = "Home"', "regions[0].id: String should match pattern"),
    ('id = "home"', 'id = "lab"', "regions[1].id: lab is already regions[0]"),
    ('country = "nl"', 'country = "NL"', "regions[0].country: String should match pattern"),
    ('engine = "local"', 'engine = "cloud"', "regions[0].engine: Input should be"),
    ('engine = "local"\n', "", "regions[0].engine: Field required"),
    ('engine = "local"', 'motor = "local"', "regions[0].motor: Extra inputs"),
    ('engine = "local"', 'engine = "local"\nengines = { volumes = 7 }', "regions[0].engines"),
    ('["Computes"]', '["Computers"]', "regions[0].capabilities[0]: Input should be"),
    ('engine = "local"', 'engine = "local"\nuplink = "wifi"', "regions[0].uplink: Input should be"),
    *(
        ('engine = "local"', f'engine = "local"\nhost_ports = ["tcp/1", "{ports}"]', problem)
        for ports, problem in (
            ("80", "regions[0].host_ports[1]: String should match pattern"),
            ("sctp/80", "regions[0].host_ports[1]: String should match pattern"),
            ("tcp/80 drop", "regions[0].host_ports[1]: String should match pattern"),
            ("tcp/0", "regions[0].host_ports[1]: Value error, ports are 1 to 65535"),
            ("udp/65536", "regions[0].host_ports[1]: Value error, ports are 1 to 65535"),
            ("tcp/81-80", "regions[0].host_ports[1]: Value error, ports are 1 to 65535"),
        )
    ),
    *(
        ('engine = "local"', f'engine = "local"\nceph = {{ {name} = "{text}" }}', problem)
        for name, text, problem in (
            ("conf", "ceph.conf", "regions[0].ceph.conf: String should match pattern"),
            ("user", "client.roost", "regions[0].ceph.user: String should match pattern"),
            ("pool", "--all", "regions[0].ceph.pool: String should match pattern"),
            ("pool", "a/b", "regions[0].ceph.pool: String should match pattern"),
        )
    ),
    ('["9.9.9.9"]', '["9.9.9"]', "regions[0].resolvers.ipv4[0]: Input is not a valid IPv4"),
    ("198.18.0.0/16", "198.18.0.1/16", "regions[1].public_ipv4[0].cidr: Input is not a valid"),
    ("198.18.0.0/16", "198.51.100.128/25", "regions[1].public_ipv4[0].cidr: 198.51.100.128/25 ov"),
    ('198.51.100.1"', '198.51.101.1"', "regions[0].public_ipv4[0].gateway: 198.51.101.1 is not"),
    ('198.51.100.1"', '198.51.100.255"', "regions[0].public_ipv4[0].gateway: 198.51.100.255 is"),
    ("192.168.144.0/20", "192.168.136.0/21", "regions[1].private_ipv4[0]: 192.168.136.0/21 over"),
    ("192.168.144.0/20", "10.0.0.0/8", "regions[1].private_ipv4[0]: 10.0.0.0/8 is not inside"),
    ("2001:db8:2::/64", "2001:db8:2::/56", "regions[1].ipv6.cidr: 2001:db8:2::/56 is not a /64"),
    ("2001:db8:2::/64", "2001:db8:3::/64", "regions[1].ipv6.gateway: 2001:db8:2::1 is not in"),
    ("2001:db8:2::", "2001:db8:1::", "regions[1].ipv6.cidr: 2001:db8:1::/64 overlaps"),
    ("big = false", "huge = false", "regions[0].availability: there is no compute type huge"),
    ("big = false", "big = 0", "regions[0].availability.big: Input should be a valid boolean"),
    ('id = "tiny"', 'id = "big"', "compute_types[1].id: big is already compute_types[0]"),
    ("vcpus = 8", "vcpus = 0", "compute_types[0].vcpus: Input should be greater than 0"),
    ("vcpus = 8", 'vcpus = "8"', "compute_types[0].vcpus: Input should be a valid integer"),
    ('class = "gpu"', 'class = "gpus"', "compute_types[0].class: Input should be"),
    ("hourly = 1,", "hourly = -1,", "compute_types[0].price.hourly: Input should be greater"),
    ("hourly = 1,", "hourly = nan,", "compute_types[0].price.hourly: Input should be a finite"),
    ('{ id = "lab"', '{ id = "moon"', "compute_types[0].region_prices: there is no region moon"),
    ('successor = "big"', 'successor = "x"', "compute_types[1].successor: there is no compute"),
    ("2024-01-02T03:04:05", '"today"', "kernels[0].built: Input should be a valid datetime"),
    ("2024-01-02T03:04:05", "2024-01-02T03:04:05Z", "images[1].created: Input should not have tim"),
    ('"roost/mini"', '"mini"', "images[0].id: String should match pattern"),
    ('"roost/mini"', '"private/1"', "images[0].id: private/ is for the images of accounts"),
    ('"roost/mini"', '"roost/plain"', "images[1].id: roost/plain is already images[0]"),
    ("[[regions]]", "[[regions", "(at line 2"),
    (*priced_transfer("moon"), "transfer_price.region_prices: there is no region moon"),
    (*priced_transfer("lab"), "transfer_price.region_prices: lab has no pool of its own"),
    (SMALL, "", "regions: Field required"),
]


@pytest.mark.parametrize(("old", "new", "problem"), BROKEN)
def test_a_fault_is_named(old: str, new: str, problem: str) -> None:
    assert old in SMALL
    with pytest.raises(CatalogError) as error:
        parse(SMALL.replace(old, new), "file.toml")
    lines = str(error.value).splitlines()
    assert all(line.startswith("file.toml: ") for line in lines)
    assert any(problem in line for line in lines), lines


def test_a_region_with_a_price_of_its_own_pool() -> None:
    text = SMALL.replace(*priced_transfer("lab"))
    own = 'id = "lab"\ntransfer_pool = "own"'
    entries = parse(text.replace('id = "lab"\n', f"{own}\n", 1), "file.toml").entries
    assert [region.transfer_pool for region in entries.regions] == ["shared", "own"]


def test_all_faults_are_named() -> None:
    text = SMALL.replace('country = "nl"', 'country = "NL"').replace("vcpus = 8", "vcpus = 0")
    with pytest.raises(CatalogError) as error:
        parse(text, "file.toml")
    assert len(str(error.value).splitlines()) == 3


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="No such file"):
        load(tmp_path / "missing.toml")
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff")
    with pytest.raises(CatalogError, match=r"binary\.toml"):
        load(binary)
