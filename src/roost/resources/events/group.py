"""What the group consists of."""

from collections.abc import Iterable

from roost.core.events import change_queries
from roost.core.events.feed import Feed
from roost.core.group import Group
from roost.core.retention import Old, retention
from roost.resources.events import endpoints, queries
from roost.resources.events.stream_service import Streams
from roost.settings import Settings


def _services(settings: Settings) -> Iterable[object]:
    """A quarter of the connections is left to those who ask."""
    feed = Feed()
    return feed, Streams(feed, max(1, settings.max_connections * 3 // 4))


GROUP = Group(
    endpoints=(endpoints,),
    retention=(
        retention(
            "event_retention",
            "37 3 * * *",
            Old(queries.delete_old, queries.KEPT),
            Old(change_queries.delete_old, queries.KEPT),
        ),
    ),
    services=_services,
)
