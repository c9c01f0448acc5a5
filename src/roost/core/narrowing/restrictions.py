"""What a narrowed token may do no more: restrictions, each of which has to hold."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from roost.core.narrowing.chain import Chain, add_link, read

_Many = Field(min_length=1, max_length=100)
_Word = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00]*$")]
"""PostgreSQL takes no text with a zero."""
_Ids = Annotated[tuple[Annotated[int, Field(ge=1, lt=2**63)], ...], _Many]
_TIME = "%Y-%m-%dT%H:%M:%S"


class Restriction(BaseModel):
    """What one link allows; all that it has must hold, and what it does not have is free."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    operations: Annotated[tuple[_Word, ...], _Many] | None = None
    """Names of operations, such as `view_instance`."""
    methods: Annotated[tuple[Literal["GET", "POST", "PUT", "DELETE"], ...], _Many] | None = None
    read_only: Literal[True] | None = None
    """Nothing is changed."""
    entities: Annotated[dict[_Word, _Ids | Literal["*"]], _Many] | None = None
    """Kinds of entities with ids, or `*` for all of a kind: `{"compute": [100001]}`."""
    tags: Annotated[tuple[_Word, ...], _Many] | None = None
    """Entities that have one of these."""
    label_prefix: _Word | None = None
    """Entities whose labels begin with it."""
    networks: Annotated[tuple[IPv4Network | IPv6Network, ...], _Many] | None = None
    """Where callers are: `192.0.2.0/24`."""
    expires: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$")] | None = None
    """When it ends (UTC): `2026-12-31T23:59:59`."""
    monthly_cost: Annotated[str, Field(pattern=r"^\d{1,7}(\.\d\d)?$")] | None = None
    """US dollars that what is made may cost in a month: `20.00`."""

    @model_validator(mode="after")
    def _says_something(self) -> "Restriction":
        said = [getattr(self, name) for name in self.model_fields_set]
        if not said or None in said:
            raise ValueError("a restriction must say something")
        if self.expires is not None:
            datetime.strptime(self.expires, _TIME)
        return self

    @property
    def expiry(self) -> datetime | None:
        """UTC."""
        text = self.expires
        return None if text is None else datetime.strptime(text, _TIME)

    def of_entities(self) -> str | None:
        """What of it says which entities may be named, if anything."""
        names = ("entities", "tags", "label_prefix")
        return next((name for name in names if getattr(self, name) is not None), None)

    def refuses(self, operation: str, method: str, client: str) -> str | None:
        """What of it does not allow an operation, called by this method from this address."""
        if self.networks is not None and not _is_within(client, self.networks):
            return "networks"
        if self.read_only and method != "GET":
            return "read_only"
        if self.methods is not None and method not in self.methods:
            return "methods"
        if self.operations is not None and operation not in self.operations:
            return "operations"
        return None


@dataclass(frozen=True, slots=True)
class Budget:
    """An amount for each month, which all that is narrowed further shares."""

    key: bytes
    """Of the link that has it."""
    amount: Decimal
    """US dollars."""


@dataclass(frozen=True, slots=True)
class Narrowing:
    """All restrictions of a token, the first one first."""

    restrictions: tuple[Restriction, ...]
    key: bytes
    """Of the last link: no other narrowed token has it."""
    budgets: tuple[Budget, ...] = ()

    @property
    def expiry(self) -> datetime | None:
        """The first of all (UTC)."""
        ends = [end for each in self.restrictions if (end := each.expiry) is not None]
        return min(ends, default=None)

    def of_entities(self) -> str | None:
        """What says which entities may be named, if anything."""
        return next(filter(None, (each.of_entities() for each in self.restrictions)), None)

    def refuses(self, operation: str, method: str, client: str) -> str | None:
        """What does not allow an operation, called by this method from this address."""
        found = (each.refuses(operation, method, client) for each in self.restrictions)
        return next(filter(None, found), None)


def narrowing_of(chain: Chain) -> Narrowing:
    """What a chain says whose signatures are good. ValueError for what is not known here."""
    restrictions = tuple(parse(link.restriction) for link in chain.links)
    budgets = tuple(
        Budget(link.key, Decimal(each.monthly_cost))
        for link, each in zip(chain.links, restrictions, strict=True)
        if each.monthly_cost is not None
    )
    return Narrowing(restrictions, chain.links[-1].key, budgets)


def texts_of(narrowing: Narrowing | None) -> list[str]:
    """Its restrictions, to hold somebody to them later who has no token then."""
    restrictions = () if narrowing is None else narrowing.restrictions
    return [each.model_dump_json(exclude_none=True) for each in restrictions]


def held_to(texts: Sequence[str]) -> Narrowing | None:
    """What the texts say, for what costs nothing. ValueError for what is not known here."""
    return Narrowing(tuple(map(parse, texts)), b"") if texts else None


def parse(text: bytes | str) -> Restriction:
    """A restriction of its JSON. ValueError, in words, for anything else."""
    try:
        return Restriction.model_validate_json(text)
    except ValidationError as error:
        raise ValueError("; ".join(_problems(error))) from None


def narrow(token: str, restriction: Restriction) -> str:
    """A token that may do what both the token and the restriction allow. Asks nobody.

    ValueError for a text that begins like a narrowed token and is none, or when there are too
    many restrictions.
    """
    return add_link(token, restriction.model_dump_json(exclude_none=True).encode())


def shown(token: str) -> Iterator[Restriction]:
    """The restrictions of a narrowed token, whoever made it. ValueError for any other text."""
    return map(parse, (link.restriction for link in read(token).links))


def _is_within(client: str, networks: tuple[IPv4Network | IPv6Network, ...]) -> bool:
    """A caller at a Unix socket is in no network."""
    try:
        address = ip_address(client)
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return any(address in network for network in networks)


def _problems(error: ValidationError) -> Iterator[str]:
    for each in error.errors(include_url=False):
        where = ".".join(map(str, each["loc"]))
        if each["type"] == "extra_forbidden":
            yield f"{where[:50]} is not known"
        else:
            yield f"{where}: {each['msg']}" if where else each["msg"]
