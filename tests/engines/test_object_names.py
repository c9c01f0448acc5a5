"""Names of objects as the server behind keeps them: all come back, in the order of their bytes."""

from hypothesis import given
from hypothesis import strategies as st

from roost.engines.gateway.names import MAX_BYTES, after_all, decoded, encoded

_HARD = "a/\\.[]~ _^\x00\x1f\x7fé中\U0010ffff\ufffe0"
NAMES = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=300),
    st.text(_HARD, max_size=300),
    st.builds(str.__mul__, st.sampled_from(_HARD), st.integers(230, 250)),
).filter(lambda name: len(name.encode()) <= MAX_BYTES)


def _order(path: str) -> list[bytes]:
    """In which folders are walked."""
    return path.encode().split(b"/")


@given(NAMES)
def test_a_name_comes_back(name: str) -> None:
    assert decoded(encoded(name)) == name


@given(NAMES)
def test_the_server_behind_takes_each_part(name: str) -> None:
    for part in encoded(name).split("/") if name else ():
        assert 1 <= len(part.encode()) <= 255
        assert min(part) >= " "
        assert not {"\ufffe", "\uffff"} & set(part)
        assert "\\" not in part
        assert part not in (".", "..")
        assert not part.startswith(".uploads")
        assert not part.endswith(".versions")


@given(NAMES, NAMES)
def test_the_order_is_that_of_bytes(one: str, other: str) -> None:
    kept = _order(encoded(one)) < _order(encoded(other))
    assert kept == (one.encode() < other.encode())


@given(NAMES, NAMES)
def test_what_begins_alike_does_so_there(prefix: str, rest: str) -> None:
    whole = prefix + rest
    assert encoded(whole).startswith(encoded(prefix))
    if not rest.startswith("\U0010ffff"):
        assert _order(encoded(whole)) < _order(after_all(prefix))


@given(NAMES, NAMES)
def test_what_does_not_begin_alike_does_not_there(prefix: str, name: str) -> None:
    assert encoded(name).startswith(encoded(prefix)) == name.startswith(prefix)
