"""What the login pages and OAuth have of a group: what they forget."""

from datetime import timedelta

from roost.core.group import Group
from roost.core.retention import Old, retention
from roost.oauth import queries, session_queries
from roost.oauth.issue import REFRESH_LIFE
from roost.oauth.throttle import WINDOW

_KEPT = timedelta(days=30)
"""Ended consents and tokens, so that one can still see what happened."""

GROUP = Group(
    retention=(
        retention(
            "oauth_retention",
            "57 3 * * *",
            Old(session_queries.delete_old_sessions),
            Old(session_queries.delete_old_attempts, WINDOW),
            Old(queries.delete_old_families, _KEPT),
            Old(queries.delete_old_access_tokens, _KEPT),
            Old(queries.delete_old_refresh_tokens, REFRESH_LIFE),
        ),
    ),
)
