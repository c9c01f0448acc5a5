"""Consents as the OAuth server makes them."""

from roost.app.roost import Roost


async def let_in(roost: Roost, user_id: int, client_id: str, scopes: str = "*") -> int:
    """The id of an app that a user has let in."""
    app_id: int = await roost.store.fetchval(
        """
        insert into authorized_app (user_id, client_id, public, scopes, created)
        values ($1, $2, false, $3, $4) returning id
        """,
        user_id,
        client_id,
        scopes,
        roost.clock.seconds(),
    )
    return app_id
