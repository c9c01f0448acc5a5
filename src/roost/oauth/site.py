"""What all pages and endpoints here need of the process around them."""

from dataclasses import dataclass
from ipaddress import ip_address

from starlette.requests import Request

from roost.clock import Clock
from roost.oauth.passwords import PasswordChecker
from roost.secrets import Box
from roost.store import Store
from roost.web.revocation import Revocations


@dataclass(frozen=True, slots=True)
class Site:
    store: Store
    clock: Clock
    box: Box
    passwords: PasswordChecker
    revocations: Revocations
    public_url: str | None

    def url(self, request: Request) -> str:
        """Where the browser or client reaches this server, without a slash at the end."""
        return self.public_url or f"{request.url.scheme}://{request.url.netloc}"

    def is_secure(self, request: Request) -> bool:
        return self.url(request).startswith("https:")


def client_address(request: Request) -> str:
    """An IP address also where a proxy names none."""
    try:
        return str(ip_address(request.client.host if request.client else ""))
    except ValueError:
        return "0.0.0.0"  # noqa: S104
