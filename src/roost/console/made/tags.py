"""Tags, with all that has one."""

from collections.abc import Sequence

from roost.console.pages import Page, Read

PAGES: Sequence[Page] = (
    Page(
        "/tags/{tagLabel:path}",
        "Tag {tagLabel}",
        "tags/tag.html",
        {"tagged": Read("list_tagged", listed=True)},
    ),
)
