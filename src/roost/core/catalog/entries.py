"""What a catalogue file holds, entry by entry (docs/catalog.md)."""

from datetime import datetime
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, NaiveDatetime

from roost.core.catalog.resolvers import of_host

Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
ImageId = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}/[a-z0-9][a-z0-9._-]{0,62}$")]
Label = Annotated[str, Field(min_length=1, max_length=128)]
Positive = Annotated[int, Field(gt=0, lt=2**31)]
Natural = Annotated[int, Field(ge=0, lt=2**31)]
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]

# Addresses are text in the file; strict mode would want them as Python objects.
V4 = Annotated[IPv4Address, Field(strict=False)]
V6 = Annotated[IPv6Address, Field(strict=False)]
V4Network = Annotated[IPv4Network, Field(strict=False)]
V6Network = Annotated[IPv6Network, Field(strict=False)]


def _has_ports(text: str) -> str:
    first, _, last = text.partition("/")[2].partition("-")
    if not 0 < int(first) <= int(last or first) < 65_536:
        raise ValueError("ports are 1 to 65535, and a range begins with the lower one")
    return text


HostPorts = Annotated[
    str, Field(pattern=r"^(tcp|udp)/[0-9]{1,5}(-[0-9]{1,5})?$"), AfterValidator(_has_ports)
]

CephName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
EngineKind = Literal["local", "simulated"]
"""Of all data planes of a region: the real engines of this machine, or none."""
Uplink = Literal["nat", "routed", "none"]
"""How guests reach what is outside: by the host's addresses, by their own, or not at all."""
PlanClass = Literal["nanode", "standard", "dedicated", "premium", "gpu", "highmem"]
Capability = Literal[
    "Backups",
    "Block Storage",
    "Block Storage Migrations",
    "Cloud Firewall",
    "Computes",
    "GPU Computes",
    "Kubernetes",
    "Managed Databases",
    "Metadata",
    "NodeBalancers",
    "Object Storage",
    "Premium Plans",
    "StackScripts",
    "VPCs",
    "Vlans",
]


class Entry(BaseModel):
    """Types are exact, and a key that means nothing is an error."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Resolvers(Entry):
    """DNS servers for the region's guests."""

    ipv4: list[V4]
    ipv6: list[V6]


class PublicPool(Entry):
    """Public IPv4 addresses; network, broadcast and gateway address are not handed out."""

    cidr: V4Network
    gateway: V4


class Ipv6Pool(Entry):
    """The /64 in which the region's guests give themselves an address (SLAAC)."""

    cidr: V6Network
    gateway: V6


class Overcommit(Entry):
    """How much of what a region's host has may be promised, as a factor."""

    memory: Annotated[float, Field(gt=0, le=1000)] = 1.5
    storage: Annotated[float, Field(gt=0, le=1000)] = 10.0
    """Disks and volumes take room as they are written, so much more is promised than taken."""
    vcpus: Annotated[float, Field(gt=0, le=1000)] | None = None
    """Of a host's processors; None: they are not counted."""


class HostCapacity(Entry):
    """What a region's host has, in MB, where that is not for its engine to say."""

    memory: Positive
    storage: Positive
    cpus: Positive | None = None
    """None: what its engine says."""


class CephEntry(Entry):
    """The cluster that a region's storage is in, where the engine `ceph` serves it."""

    conf: Annotated[str, Field(pattern=r"^/[^\x00-\x1f]{1,255}$")] = "/etc/ceph/ceph.conf"
    """The clients' configuration file; it, or the place that Ceph looks at, names the keyring."""
    user: CephName = "roost"
    """Without `client.`."""
    pool: CephName = "roost"


class RegionEntry(Entry):
    """A region and the engines that serve it."""

    id: Slug
    label: Label
    country: Annotated[str, Field(pattern=r"^[a-z]{2}$")]
    engine: EngineKind
    engines: Annotated[dict[str, Slug], Field(max_length=16)] = {}
    """Data planes that are on another engine, by its name."""
    capabilities: list[Capability]
    status: Literal["ok", "outage"] = "ok"
    site_type: Literal["core", "distributed"] = "core"
    resolvers: Annotated[Resolvers, BeforeValidator(of_host)]
    uplink: Uplink = "nat"
    transfer_pool: Literal["shared", "own"] = "shared"
    """Whether what its instances may send is a pool of its own."""
    host_ports: Annotated[list[HostPorts], Field(max_length=64)] = []
    """Ports of the region's host that its guests reach, such as `tcp/443`."""
    public_ipv4: Annotated[list[PublicPool], Field(min_length=1)]
    private_ipv4: Annotated[list[V4Network], Field(min_length=1)]
    ipv6: Ipv6Pool
    ipv6_ranges: Annotated[list[V6Network], Field(max_length=16)] = []
    """Networks of which accounts get a /64 or /56 each, routed to an instance."""
    availability: dict[str, bool] = {}
    """Plans with a limited supply: whether the region has any left."""
    overcommit: Overcommit = Overcommit()
    capacity: HostCapacity | None = None
    ceph: CephEntry = CephEntry()

    def engine_of(self, plane: str) -> str:
        return self.engines.get(plane, self.engine)


class Price(Entry):
    """US dollars."""

    hourly: Dollars
    monthly: Dollars


class RegionPrice(Price):
    id: str
    """The region that differs."""


class Priced(Entry):
    price: Price
    region_prices: list[RegionPrice] = []


class PricedBeyond(Priced):
    """A price by the unit, of which an account has the first ones free."""

    free: Natural = 0


class RegionTransferPrice(Entry):
    id: str
    """The region that differs."""
    price: Dollars


class TransferPrice(Entry):
    """The price of each GB beyond a pool, in US dollars."""

    price: Dollars
    region_prices: list[RegionTransferPrice] = []
    """Of regions with a pool of their own."""


class Addons(Entry):
    backups: Priced


class PlanEntry(Entry):
    """A compute type. memory and disk in MB, transfer in GB a month, network_out in Mbit/s."""

    id: Slug
    label: Label
    class_: PlanClass = Field(alias="class")
    vcpus: Positive
    memory: Positive
    disk: Positive
    transfer: Natural
    network_out: Positive
    gpus: Natural = 0
    price: Price
    region_prices: list[RegionPrice] = []
    addons: Addons
    successor: str | None = None


class TaxEntry(Entry):
    """A tax on invoices of accounts in a country, or in one state of it."""

    name: Label
    country: Annotated[str, Field(pattern=r"^[A-Z]{2}$")]
    state: Annotated[str, Field(max_length=24)] | None = None
    rate: Annotated[str, Field(pattern=r"^0\.[0-9]{1,6}$")]
    """A share in exact decimals: `"0.19"` is 19 %."""
    reverse_charge: bool = False
    """Whether an account with a tax number pays it itself, and not here."""


class KernelEntry(Entry):
    """A kernel that a configuration may name."""

    id: ImageId
    label: Label
    version: str
    kvm: bool = True
    architecture: Literal["x86_64", "i386"]
    pvops: bool
    deprecated: bool = False
    built: NaiveDatetime


class ImageEntry(Entry):
    """A public image. size in MB: the smallest disk that holds it."""

    id: ImageId
    label: Label
    vendor: Label
    description: str = ""
    size: Positive
    created: NaiveDatetime
    eol: NaiveDatetime | None = None
    deprecated: bool = False
    capabilities: list[Literal["cloud-init"]] = []
    runs_scripts: bool = False
    """Takes user data that begins with `#!`, without understanding the rest of cloud-init."""

    @property
    def takes_user_data(self) -> bool:
        return self.runs_scripts or "cloud-init" in self.capabilities


class DatabaseEngineEntry(Entry):
    """A database engine. total_disk_size_gb and used_disk_size_gb in GB."""

    id: ImageId
    """`<engine>/<version>`; the version may be the beginning of the server's own (`10.11`)."""
    server: Literal["mysql", "mariadb", "postgresql"] = "mysql"
    """The program behind it."""
    total_disk_size_gb: Natural = 0
    used_disk_size_gb: Natural = 0

    @property
    def engine(self) -> str:
        return self.id.partition("/")[0]

    @property
    def version(self) -> str:
        return self.id.partition("/")[2]


class ClusterPrice(Entry):
    """What a cluster of so many nodes costs."""

    quantity: Literal[1, 3]
    price: Price


class DatabasePrices(Entry):
    mysql: Annotated[list[ClusterPrice], Field(max_length=2)] = []
    postgresql: Annotated[list[ClusterPrice], Field(max_length=2)] = []


class DatabaseTypeEntry(Entry):
    """A plan of database nodes. memory and disk in MB."""

    id: Slug
    label: Label
    class_: PlanClass = Field(alias="class")
    vcpus: Positive
    memory: Positive
    disk: Positive
    deprecated: bool = False
    engines: DatabasePrices

    def offers(self, engine: Literal["mysql", "postgresql"], cluster_size: int) -> bool:
        """Whether a cluster of so many nodes with the engine has a price."""
        prices = self.engines.mysql if engine == "mysql" else self.engines.postgresql
        return any(row.quantity == cluster_size for row in prices)


class ObjectClusterEntry(Entry):
    """Where buckets can be. A region has one at most."""

    id: Slug
    region: Slug
    domain: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]{0,126}[a-z0-9]$")]
    """Below which each bucket has a name."""


class BetaEntry(Entry):
    """A beta program, in which accounts may take part."""

    id: Slug
    label: Label
    description: str = ""
    started: NaiveDatetime
    ended: NaiveDatetime | None = None
    greenlight_only: bool = False
    """Whether only the operator enrolls accounts (`roost account enroll`)."""
    more_info: str = ""
    """A URL."""


class Entries(Entry):
    """A whole file."""

    mail_restricted_since: datetime | None = None
    """Guests of accounts that were made then or later send no mail (spec B compute 4)."""

    limits: dict[str, Natural] = {}
    """What an account may have, where it is not what the group says that counts it."""
    image_size: Positive = 6144
    """MB that a private image may hold (spec A images)."""
    deleted_disks_days: Annotated[int, Field(ge=0, le=365)] = 7
    """For how long the disks of deleted instances are kept as images; 0: not at all."""
    volume_price: Priced = Priced(price=Price(hourly=0.00015, monthly=0.1))
    """Of one GiB."""
    address_price: Priced = Priced(price=Price(hourly=0.003, monthly=2.0))
    """Of each public IPv4 address of an instance but the first."""
    image_price: PricedBeyond = PricedBeyond(price=Price(hourly=0.00015, monthly=0.1), free=25)
    """Of one GiB of private images."""
    bucket_price: Priced = Priced(price=Price(hourly=0.00003, monthly=0.02))
    """Of one GB in a bucket."""
    nodebalancer_price: Priced = Priced(price=Price(hourly=0.015, monthly=10.0))
    """Of each NodeBalancer."""
    managed_price: Priced = Priced(price=Price(hourly=0.15, monthly=100.0))
    """Of each instance of an account that has the managed service."""
    transfer_price: TransferPrice = TransferPrice(price=0.005)
    taxes: Annotated[list[TaxEntry], Field(max_length=1000)] = []
    regions: Annotated[list[RegionEntry], Field(min_length=1)]
    compute_types: Annotated[list[PlanEntry], Field(min_length=1)]
    kernels: list[KernelEntry]
    images: list[ImageEntry]
    betas: list[BetaEntry] = []
    database_engines: Annotated[list[DatabaseEngineEntry], Field(max_length=100)] = []
    database_types: Annotated[list[DatabaseTypeEntry], Field(max_length=1000)] = []
    object_clusters: Annotated[list[ObjectClusterEntry], Field(max_length=1000)] = []
