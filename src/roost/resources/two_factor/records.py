"""Records of two-factor authentication (reference: Small profile records)."""

from typing_extensions import TypedDict


class TfaSecretRow(TypedDict):
    """A secret that waits for confirmation; `otpauth_uri` and `qr` are Roost's own."""

    secret: str
    expiry: str
    otpauth_uri: str
    qr: str


class TfaScratchRow(TypedDict):
    """A code for once, shown once, for whoever lost the authenticator."""

    scratch: str
