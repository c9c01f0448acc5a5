"""PostgreSQL: connections, transactions, notifications, migrations, a server of our own."""

from roost.store.connection import Connection
from roost.store.pool import FAULTS, Share
from roost.store.queries import Queries, notify
from roost.store.store import Store

__all__ = ["FAULTS", "Connection", "Queries", "Share", "Store", "notify"]
