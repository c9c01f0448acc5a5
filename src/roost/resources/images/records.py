"""Records of images (spec A, Image; reference: Image)."""

from typing import Literal

from typing_extensions import TypedDict


class ImageRow(TypedDict):
    """size in MB."""

    id: str
    label: str
    description: str | None
    created: str
    updated: str
    created_by: str
    deprecated: bool
    is_public: bool
    size: int
    type: Literal["manual", "automatic"]
    expiry: str | None
    eol: str | None
    vendor: str | None
    status: Literal["creating", "pending_upload", "available"]
    capabilities: list[str]
