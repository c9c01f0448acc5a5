"""Which redirect URIs a client may register.

A URI is compared with what a request names character by character, so its form must leave no
room for another reading: no fragment, no user info, nothing that needs escaping (RFC 9700, 2.1).
"""

import re
from urllib.parse import urlsplit

from roost.web.fields import refuse

_REST = r"[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=%-]*"
_WEB = re.compile(
    rf"https?://(?:[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{{1,5}})?(?:[/?]{_REST})?"
)
_APP = re.compile(rf"[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:/{_REST}")

NOT_A_URI = "Must be an absolute http or https URL without user info and fragment"
NOT_PUBLIC = "Only a public client may be redirected to an app's own scheme"


def redirect_uri(value: str) -> str:
    if not is_redirect_uri(value):
        raise refuse(NOT_A_URI)
    return value


def is_redirect_uri(value: str) -> bool:
    """An http or https URL, or the scheme of an app with a dot in its name (RFC 8252, 7.1)."""
    if not _WEB.fullmatch(value):
        return _APP.fullmatch(value) is not None
    try:
        port = urlsplit(value).port
    except ValueError:  # Also an address in brackets that is none.
        return False
    return port != 0


def fits(uri: str, public: bool) -> bool:
    """Apps can't keep a secret, so only public clients are apps."""
    return public or _WEB.fullmatch(uri) is not None
