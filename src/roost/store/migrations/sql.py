"""What a migration does: run SQL as it is written."""

from typing import cast

from alembic import op
from sqlalchemy import AdaptedConnection


def execute(script: str) -> None:
    """Run statements separated by semicolons.

    `op.execute` would refuse more than one and take each `:word` for a parameter.
    """
    connection = op.get_bind().connection.dbapi_connection
    cast("AdaptedConnection", connection).run_async(lambda driver: driver.execute(script))
