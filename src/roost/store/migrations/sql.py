"""What a migration does: run SQL as it is written."""

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from sqlalchemy import AdaptedConnection


def execute(script: str) -> None:
    """Run statements separated by semicolons.

    `op.execute` would refuse more than one and take each `:word` for a parameter.
    """
    from alembic import op

    connection = op.get_bind().connection.dbapi_connection
    cast("AdaptedConnection", connection).run_async(lambda driver: driver.execute(script))
