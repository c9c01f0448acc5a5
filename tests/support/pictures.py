"""Images to upload."""

import io

from PIL import Image


def picture(width: int = 8, height: int = 8, kind: str = "PNG", mode: str = "RGB") -> bytes:
    """A file with an image of one colour."""
    file = io.BytesIO()
    Image.new(mode, (width, height), 1).save(file, kind)
    return file.getvalue()
