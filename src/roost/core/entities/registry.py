"""All kinds of entities, by name."""

from collections.abc import Iterable, Iterator

from roost.core.entities.kind import EntityKind, ResourceKind


class Entities:
    """What the groups declare. Names of the API that no group has declared yet are just absent."""

    def __init__(self, kinds: Iterable[EntityKind]) -> None:
        self._by_name: dict[str, EntityKind] = {}
        for kind in kinds:
            if kind.name in self._by_name:
                raise ValueError(f"two kinds of entities are named {kind.name}")
            self._by_name[kind.name] = kind

    def __iter__(self) -> Iterator[EntityKind]:
        return iter(self._by_name.values())

    def resources(self) -> tuple[ResourceKind, ...]:
        """Those that accounts have many of, in the order of their declaration."""
        return tuple(kind for kind in self if isinstance(kind, ResourceKind))

    def grantable(self, name: str) -> ResourceKind | None:
        """The kind of this name on which grants can be given."""
        return next((k for k in self.resources() if k.name == name and k.grantable), None)

    def taggable(self) -> tuple[ResourceKind, ...]:
        """The kinds that can have tags, in the order in which their rows are to be locked."""
        return tuple(kind for kind in self.resources() if kind.tags_table is not None)

    def ticketed(self, field: str) -> ResourceKind | None:
        """The kind that this field of a new support ticket names."""
        return next((kind for kind in self.resources() if kind.ticket_field == field), None)
