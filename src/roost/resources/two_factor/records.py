"""Records of two-factor authentication (reference: Small profile records)."""

from typing_extensions import TypedDict

from roost.core.formats import Timestamp, Uri, example


@example(
    {
        "secret": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
        "expiry": "2030-01-31T13:00:00",
        "otpauth_uri": "otpauth://totp/Roost:ada?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Roost",
        "qr": "data:image/svg+xml;base64,PHN2Zy8+",
    },
)
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


@example(
    {"scratch": "KJ7Q2M4T6VX3"},
)
class TfaScratchRow(TypedDict):
    """A code for once, shown once, for whoever lost the authenticator."""

    scratch: str
    """The code; keep it where you find it without your telephone."""
