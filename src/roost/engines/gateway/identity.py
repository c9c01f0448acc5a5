"""Who asks."""

from dataclasses import dataclass

from roost.engines.gateway.register import Bucket, Key, Register


@dataclass(frozen=True, slots=True)
class Identity:
    """A key, the own key of a bucket, or nobody in particular."""

    key: Key | None = None
    signer_of: str | None = None
    """The place of the bucket that is opened."""

    @property
    def anonymous(self) -> bool:
        return self.key is None and self.signer_of is None

    @property
    def access_key(self) -> str | None:
        """By which policies name a key."""
        return None if self.key is None else self.key.access_key

    def grant(self, bucket: Bucket) -> bool | None:
        """Whether it may write; None: neither that nor read."""
        if self.key is not None:
            return self.key.grants.get(bucket.label)
        return True if self.signer_of == bucket.place else None

    def governs(self, bucket: Bucket) -> bool:
        """Whether it says what others may do: an unlimited key of the bucket's account."""
        return self.key is not None and self.key.unlimited and self.grant(bucket) is True


def identity_of(register: Register, access_key: str | None) -> Identity:
    if access_key is None:
        return Identity()
    signed = register.signed_bucket(access_key)
    if signed is not None:
        return Identity(signer_of=signed.place)
    return Identity(register.key_of(access_key))
