"""What all pages and endpoints here need of the process around them."""

from dataclasses import dataclass
from ipaddress import ip_address

from starlette.requests import Request

from roost.clock import Clock
from roost.oauth.first_link import FirstLink
from roost.oauth.passwords import PasswordChecker
from roost.resources.oauth_clients.queries import OAuthClient
from roost.resources.oauth_clients.rules import is_redirect_uri
from roost.secrets import Box
from roost.store import Store
from roost.web.revocation import Revocations

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Site:
    store: Store
    clock: Clock
    box: Box
    passwords: PasswordChecker
    revocations: Revocations
    public_url: str | None
    first_link: FirstLink
    any_query: bool = False
    """Whether a client may ask to be answered at its redirect URI with another query: clients of
    a dialect keep there where they were. All else of it is compared, as everywhere."""

    def leads_to(self, client: OAuthClient, wanted: str | None) -> str | None:
        """The redirect URI for a client that names this one, or none; None when it may not."""
        registered = client.redirect_uri
        if wanted is None or wanted == registered:
            return registered
        if not self.any_query or "#" in wanted or not is_redirect_uri(wanted):
            return None
        same = wanted.partition("?")[0] == registered.partition("?")[0]
        return wanted if same else None

    def url(self, request: Request) -> str:
        """Where the browser or client reaches this server, without a slash at the end."""
        if self.public_url is not None:
            return self.public_url
        scheme, host = request.url.scheme, request.url.netloc
        if request.url.hostname not in _LOOPBACK:
            # Not what the caller says: the address at which they were connected.
            address, port = request.scope["server"]
            host = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
        return f"{scheme}://{host}"

    def is_secure(self, request: Request) -> bool:
        return self.url(request).startswith("https:")


def client_address(request: Request) -> str:
    """An IP address also where a proxy names none."""
    try:
        return str(ip_address(request.client.host if request.client else ""))
    except ValueError:
        return "0.0.0.0"  # noqa: S104
