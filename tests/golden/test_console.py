"""Every operation is reached from some page of the web console."""

from roost.app.groups import GROUPS
from roost.console.made import PAGES
from roost.console.operations import STREAMS, Operations, reached
from roost.console.pages import Pages
from roost.web.registry import Registry
from tests.golden.gaps import check_gaps


def test_every_operation_is_on_a_page() -> None:
    """A deprecated one is done by what takes its place; all pages follow the stream of events."""
    operations = Operations(Registry(GROUPS.endpoints))
    pages = Pages(operations, PAGES)
    known = reached(operations, pages.operations_of_made()) | STREAMS
    check_gaps("unreached", (each.name for each in operations.registry if each.name not in known))
