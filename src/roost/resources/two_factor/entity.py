"""How events name a user's profile."""

from roost.resources.events.records import Entity


def profile_entity(username: str) -> Entity:
    return {"id": None, "label": username, "type": "profile", "url": "/v4/profile"}
