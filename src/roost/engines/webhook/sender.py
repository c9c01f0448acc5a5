"""JSON over HTTP, signed so that the receiver knows whose it is."""

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import ClassVar
from urllib.parse import urlsplit

import aiohttp

from roost.core.engine import Health
from roost.resources.conditions.engine import WebhookError

_TIMEOUT = aiohttp.ClientTimeout(total=10.0)

SIGNATURE = "Roost-Signature"
DELIVERY = "Roost-Delivery"


@dataclass(frozen=True, slots=True)
class WebhookSender:
    """A Webhook. The URL is as good as a password with many receivers, so it is told to nobody."""

    url: str = field(repr=False)
    secret: bytes = field(repr=False)

    name: ClassVar[str] = "webhook"

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc.rpartition("@")[2]

    async def health(self) -> Health:
        """Well: only a message would show more, and nobody wants one a minute."""
        return Health(True, "webhook")

    async def close(self) -> None:
        """No connection outlives a message."""

    async def post(self, delivery: str, body: bytes) -> None:
        """Redirections are not followed: they could lead anywhere."""
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "Roost",
            DELIVERY: delivery,
            SIGNATURE: sign(self.secret, body),
        }
        try:
            async with (
                aiohttp.ClientSession(timeout=_TIMEOUT, headers=headers) as session,
                session.post(self.url, data=body, allow_redirects=False) as response,
            ):
                status = response.status
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            # Its text may have the URL in it.
            raise WebhookError(f"the webhook failed: {type(error).__name__}") from None
        if not 200 <= status < 300:
            raise WebhookError(f"the webhook answered {status}")


def sign(secret: bytes, body: bytes) -> str:
    """The HMAC-SHA256 of the body, in hex, after `sha256=`."""
    return f"sha256={hmac.new(secret, body, hashlib.sha256).hexdigest()}"
