"""Tags as users see them."""

from urllib.parse import quote

from tests.support.client import Client

TAGS = "/tags"


def one(label: str) -> str:
    """The path of a tag."""
    return f"{TAGS}/{quote(label, safe='')}"


async def labels(client: Client) -> list[str]:
    """All tags of the account, as listed."""
    return [row["label"] for row in (await client.get(TAGS))["data"]]


async def tagged(client: Client, label: str) -> list[tuple[str, int]]:
    """Types and ids of what has a tag."""
    return [(row["type"], row["data"]["id"]) for row in (await client.get(one(label)))["data"]]
