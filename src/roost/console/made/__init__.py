"""The pages that are made by hand, a module for each group; all others are the kit's."""

from collections.abc import Sequence

from roost.console.made import (
    account,
    changes,
    configs,
    databases,
    domains,
    images,
    instances,
    networks,
    objects,
    start,
    support,
    tags,
    volumes,
)
from roost.console.pages import Page

PAGES: Sequence[Page] = (
    *start.PAGES,
    *instances.PAGES,
    *changes.PAGES,
    *configs.PAGES,
    *volumes.PAGES,
    *images.PAGES,
    *networks.PAGES,
    *databases.PAGES,
    *objects.PAGES,
    *domains.PAGES,
    *support.PAGES,
    *tags.PAGES,
    *account.PAGES,
)
