"""Kinds of entities, each declared once, by its resource group."""

from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote

from roost.core.entities.records import Entity
from roost.store.paging import Listing

BASE = "/v4"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityKind:
    """Something that events are about."""

    name: str
    """The API's word, as in `entity.type`: `compute`."""
    path: str
    """Of the endpoint that shows one, with `{id}` or `{label}`: `/compute/instances/{id}`. With
    `{variant}` where things of a kind are shown at more than one place."""

    def url(
        self, entity_id: int | str | None = None, label: str | None = None, variant: str = ""
    ) -> str:
        names = {"id": quote(str(entity_id)), "label": quote(str(label), safe="")}
        return BASE + self.path.format(**names, variant=variant)

    def entity(
        self, entity_id: int | str | None = None, label: str | None = None, variant: str = ""
    ) -> Entity:
        """`variant`: of the path, where that has one."""
        url = self.url(entity_id, label, variant)
        return {"id": entity_id, "label": label, "type": self.name, "url": url}

    def of(self, row: "Labelled") -> Entity:
        return self.entity(row.id, row.label)


class Labelled(Protocol):
    """A row with a number and a label."""

    @property
    def id(self) -> int: ...

    @property
    def label(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceKind(EntityKind):
    """Numbered things of which an account has many: what grants, tags and tickets are about too."""

    listing: Listing
    """How a list or a view reads them. `$1` of its scope is the account's id; `granted`, when it
    is set, makes the kind one on which grants can be given."""
    label: str
    """SQL of the label in the listing's source: `i.label`."""
    variant: str | None = None
    """SQL of the variant of the path, in the listing's source."""
    tags_table: str | None = None
    """The table with the columns `id`, `account_id` and `tags` (text[], under a GIN index), when
    they can have tags. The listing then has the column `tags`."""
    ticket_field: str | None = None
    """The field that names one in the body of a new support ticket, when there is one."""

    @property
    def grantable(self) -> bool:
        return self.listing.granted is not None
