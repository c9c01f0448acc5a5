"""How the rest of the cloud knows managed databases."""

from roost.core.entities.kind import ResourceKind
from roost.resources.databases.queries import MYSQL_DATABASES

DATABASE = ResourceKind(
    name="database",
    path="/databases/mysql/instances/{id}",
    listing=MYSQL_DATABASES,
    label="d.label",
    ticket_field="database_id",
)


def resource_of(database_id: int) -> str:
    """The name under which jobs of a database run one at a time."""
    return f"database:{database_id}"
