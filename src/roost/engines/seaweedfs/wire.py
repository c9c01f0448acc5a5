"""The wire format of gRPC's messages (https://protobuf.dev/programming-guides/encoding), as far as
those of the filer need it: texts, messages, numbers and flags."""

from collections.abc import Iterator

_VARINT, _EIGHT, _TEXT, _FOUR = 0, 1, 2, 5
"""Wire types; a message is a text, too."""


def field(number: int, value: str | bytes) -> bytes:
    """A text or a message as a field of a message."""
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | _TEXT) + _varint(len(content)) + content


def integer(number: int, value: int) -> bytes:
    """A number that is not negative as a field of a message; flags are 1 and 0."""
    return _varint(number << 3) + _varint(value)


def fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The texts and messages of a message; other fields are left out. Raises ValueError."""
    for number, value in _all(message):
        if isinstance(value, bytes):
            yield number, value


def first_number(message: bytes, number: int) -> int:
    """The first number or flag that the message has there; 0 if it has none."""
    return next((v for n, v in _all(message) if n == number and isinstance(v, int)), 0)


def _all(message: bytes) -> Iterator[tuple[int, bytes | int]]:
    place = 0
    try:
        while place < len(message):
            key, place = _read_varint(message, place)
            if key & 7 == _VARINT:
                number, place = _read_varint(message, place)
                yield key >> 3, number
            elif key & 7 == _TEXT:
                size, place = _read_varint(message, place)
                yield key >> 3, message[place : place + size]
                place += size
            elif key & 7 in (_EIGHT, _FOUR):
                place += 8 if key & 7 == _EIGHT else 4
            else:
                raise ValueError("a field is of no known type")
    except IndexError:
        raise ValueError("the message ends within a field") from None


def first(message: bytes, number: int) -> bytes | None:
    """The first text or message with the number."""
    return next((value for found, value in fields(message) if found == number), None)


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def _read_varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while message[place] & 0x80:
        value |= (message[place] & 0x7F) << shift
        place, shift = place + 1, shift + 7
    return value | message[place] << shift, place + 1
