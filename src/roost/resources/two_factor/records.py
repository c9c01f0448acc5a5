"""Records of two-factor authentication (reference: Small profile records)."""

from typing_extensions import TypedDict

from roost.core.formats import Timestamp, Uri


class TfaSecretRow(TypedDict):
    """A secret that waits for confirmation; `otpauth_uri` and `qr` are Roost's own."""

    secret: str
    """The secret in Base32, to be typed into an authenticator."""
    expiry: Timestamp
    """Until when it can be confirmed (UTC)."""
    otpauth_uri: Uri
    """The same as an address that authenticators open."""
    qr: str
    """The same as a picture: a `data:` address of an SVG."""


class TfaScratchRow(TypedDict):
    """A code for once, shown once, for whoever lost the authenticator."""

    scratch: str
    """The code; keep it where you find it without your telephone."""
