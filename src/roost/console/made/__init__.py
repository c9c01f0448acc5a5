"""The pages that are made by hand, a module for each group; all others are the kit's."""

from collections.abc import Sequence

from roost.console.made import instances, start
from roost.console.pages import Page

PAGES: Sequence[Page] = (*start.PAGES, *instances.PAGES)
