"""Names of objects as the server behind keeps them.

SeaweedFS walks folders: it takes `\\` for `/`, drops what a name ending in `/` holds, and lists
folders by their names without `/`. So a name is kept as one without either, and in an order that is
the one of UTF-8: each character has a code of its own, none of which begins another one, and the
codes are in the order of the characters. What is longer than a file's name may be goes into folders
that no file can be called like.
"""

import re

MAX_BYTES = 1024
"""Of a name; the server behind takes as many of the codes, so that names of which many characters
have long ones are refused."""
_PART = 240
"""Bytes after which a part ends, at most three later where a character does."""
_MORE = "_"
"""Ends the name of a folder, which so differs from each file's."""
_LAST = "\U0010ffff"
_CODES = {
    **{number: f" {number:02x}" for number in range(0x20)},
    0x20: " ~",
    ord("."): ".0",
    ord("/"): ".1",
    ord("["): "[0",
    ord("\\"): "[1",
    0xFFFD: "\ufffd0",
    0xFFFE: "\ufffd1",
    0xFFFF: "\ufffd2",
}
_CHARACTERS = {code: chr(number) for number, code in _CODES.items()}
_ESCAPES = frozenset(code[0] for code in _CHARACTERS)
_ESCAPE = re.compile(f"[{re.escape(''.join(sorted(_ESCAPES)))}]")


def encoded(name: str) -> str:
    """The path of an object, or of the beginning of names. Raises UnicodeEncodeError."""
    return _parted(name.translate(_CODES))


def decoded(path: str) -> str:
    """The name of what is at the path. Raises ValueError."""
    text = path.replace(f"{_MORE}/", "") if "/" in path else path
    if _ESCAPE.search(text) is None:
        return text
    found, place = list[str](), 0
    while place < len(text):
        size = 1
        if text[place] in _ESCAPES:
            size = 2 if text[place : place + 2] in _CHARACTERS else 3
            if text[place : place + size] not in _CHARACTERS:
                raise ValueError("it is no name of ours")
        code = text[place : place + size]
        found.append(_CHARACTERS.get(code, code))
        place += size
    return "".join(found)


def after_all(prefix: str) -> str:
    """What comes after the paths that begin with that of the prefix, but for those which go on
    with the last characters that there are."""
    return _parted(prefix.translate(_CODES) + _LAST * 2)


def _parted(text: str) -> str:
    if len(text.encode()) <= _PART:
        return text
    parts, begin, size = list[str](), 0, 0
    for place, character in enumerate(text):
        if size >= _PART:
            parts.append(text[begin:place])
            begin, size = place, 0
        size += len(character.encode())
    return f"{_MORE}/".join((*parts, text[begin:]))
