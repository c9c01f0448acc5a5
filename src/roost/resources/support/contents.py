"""What an attachment may be, and whether it is what its name says (spec A support).

Files are never shown, run or made into anything else. Images are opened, which reads their
structure, but not decoded.
"""

import io
import warnings
from collections.abc import Callable, Mapping

from PIL import Image

from roost.errors import invalid
from roost.resources.support import rules
from roost.resources.support.forms import FIELD, PATH, FormFile

# A crafted TIFF has one for each of 65,000 tags; Python would print and keep them all.
warnings.filterwarnings("ignore", module=r"PIL\.")

_MAX_NAME = 255
_PDF_END = 1024
_TEXT_CONTROLS = frozenset(b"\t\n\x0b\x0c\r\x08\x1b")
_NOT_IN_TEXT = bytes(sorted(set(range(0x20)) - _TEXT_CONTROLS)) + b"\x7f"
_BOMS = {b"\xff\xfe\x00\x00": "utf-32", b"\x00\x00\xfe\xff": "utf-32"} | {
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
_NO_TEXT = (b"%PDF-", b"GIF87a", b"GIF89a", b"\x89PNG", b"\xff\xd8\xff", b"II*\0", b"MM\0*")

EMPTY = "Must not be empty"
WRONG_NAME = f"The file name must have 1-{_MAX_NAME} characters, and no control characters"


def check_file(file: FormFile) -> None:
    """ApiError 400 for a file that is refused. Slow: call it off the event loop."""
    if "/" in file.name or "\\" in file.name:
        raise invalid(PATH, FIELD)
    if len(file.name) > _MAX_NAME or rules.has_control_characters(file.name):
        raise invalid(WRONG_NAME, FIELD)
    stem, dot, extension = file.name.rpartition(".")
    is_right = _KINDS.get(extension.lower()) if dot and stem else None
    if is_right is None:
        accepted = ", ".join(f".{name}" for name in _KINDS)
        raise invalid(f"The file name must end in one of {accepted}", FIELD)
    if not file.content:
        raise invalid(EMPTY, FIELD)
    if not is_right(file.content):
        raise invalid(f"The content is not that of a .{extension} file", FIELD)


def _image(kind: str) -> Callable[[bytes], bool]:
    def check(content: bytes) -> bool:
        try:
            with Image.open(io.BytesIO(content), formats=(kind,)) as image:
                image.verify()
        except Exception:  # Decoders raise errors of many types for crafted files.
            return False
        return True

    return check


def _is_pdf(content: bytes) -> bool:
    return content.startswith(b"%PDF-") and b"%%EOF" in content[-_PDF_END:]


def _is_text(content: bytes) -> bool:
    """In UTF-8, in UTF-16 or 32 with a mark, or in any encoding of 8 bits."""
    if content.startswith(_NO_TEXT):
        return False
    encoding = next((name for bom, name in _BOMS.items() if content.startswith(bom)), None)
    if encoding is None:
        return not content.translate(None, bytes(set(range(256)) - set(_NOT_IN_TEXT)))
    try:
        return "\0" not in content.decode(encoding)
    except UnicodeDecodeError:
        return False


_JPEG, _TIFF = _image("JPEG"), _image("TIFF")

_KINDS: Mapping[str, Callable[[bytes], bool]] = {
    "gif": _image("GIF"),
    "jpg": _JPEG,
    "jpeg": _JPEG,
    "pjpg": _JPEG,
    "pjpeg": _JPEG,
    "tif": _TIFF,
    "tiff": _TIFF,
    "png": _image("PNG"),
    "pdf": _is_pdf,
    "txt": _is_text,
}
