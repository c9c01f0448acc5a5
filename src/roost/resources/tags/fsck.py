"""`roost fsck` of tags: what has one that its account does not have."""

from collections.abc import AsyncIterator
from functools import partial

from roost.core.entities.kind import ResourceKind
from roost.core.entities.registry import Entities
from roost.core.fsck import Finding, Installation
from roost.resources.tags import queries


async def check_tags(installation: Installation) -> AsyncIterator[Finding]:
    """The tags of all kinds of things."""
    for kind in installation.get(Entities).taggable():
        for entity_id, label in await queries.dangling(installation.store, kind):
            text = f"{kind.name} {entity_id} has the tag {label}, which its account does not have"
            yield Finding(text, partial(_remove, installation, kind, entity_id, label))


async def _remove(
    installation: Installation, kind: ResourceKind, entity_id: int, label: str
) -> str:
    await queries.remove_dangling(installation.store, kind, entity_id, label)
    return "took it off"
