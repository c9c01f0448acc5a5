"""Objects of a list as the server behind writes it, read in the quick way and in the sure one."""

from roost.engines.gateway.lists import Found, found_in

_HEAD = '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://x/"><Name>b</Name>'
_OWNER = "<Owner><ID>root</ID><DisplayName>root</DisplayName></Owner>"
_REST = "<StorageClass>STANDARD</StorageClass><LastModified>2030-01-31T00:00:00Z</LastModified>"


def _list(*rows: str) -> bytes:
    contents = "".join(f"<Contents>{row}</Contents>" for row in rows)
    return f"{_HEAD}{contents}</ListBucketResult>".encode()


def _row(key: str, owner: str = "") -> str:
    return f"<Key>{key}</Key><ETag>&#34;abc&#34;</ETag><Size>7</Size>{owner}{_REST}"


WANTED = Found("a b", '"abc"', "2030-01-31T00:00:00Z", 7)


def test_both_ways_find_the_same() -> None:
    quick, sure = _list(_row("a%20~b"), _row("c")), _list(_row("a%20~b", _OWNER), _row("c"))
    for body in (quick, sure):
        assert found_in(body) == [WANTED, WANTED._replace(name="c")]


def test_no_object_is_left_out() -> None:
    """Neither one that is written in another way than those beside it, nor the only one."""
    assert len(found_in(_list(_row("a"), _row("b", _OWNER), _row("c")))) == 3
    assert len(found_in(_list(_row("a", "<Owner/>")))) == 1
    assert found_in(_list()) == []
