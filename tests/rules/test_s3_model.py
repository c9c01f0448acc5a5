"""The model that says what S3 may answer knows wrong answers from right ones."""

import time

import pytest
from tests.support.s3_model import History, Upload, Write, etag_of_parts


def _done(history: History, value: str | None) -> Write:
    write = history.begin("a", value)
    write.ended = time.monotonic()
    return write


def test_what_was_written_is_read() -> None:
    history = History()
    history.read("a", time.monotonic(), None)
    _done(history, "1")
    history.read("a", time.monotonic(), "1")
    with pytest.raises(AssertionError):
        history.read("a", time.monotonic(), None)
    _done(history, "2")
    with pytest.raises(AssertionError):
        history.read("a", time.monotonic(), "1")
    assert not history.may_be_absent("a", time.monotonic())


def test_both_of_two_at_once_may_be_last() -> None:
    history = History()
    one, other = history.begin("a", "1"), history.begin("a", "2")
    assert history.may_be_absent("a", time.monotonic())
    assert history.may_be_there("a", time.monotonic())
    one.ended = other.ended = time.monotonic()
    history.read("a", time.monotonic(), "1")
    with pytest.raises(AssertionError):
        history.read("a", time.monotonic(), None)


def test_what_was_seen_does_not_go_back() -> None:
    """Also of a write of which nobody was told that it is done."""
    history = History()
    _done(history, "1")
    history.begin("a", "2")
    history.read("a", time.monotonic(), "1")
    history.read("a", time.monotonic(), "2")
    with pytest.raises(AssertionError):
        history.read("a", time.monotonic(), "1")


def test_what_was_refused_is_not_seen() -> None:
    history = History()
    history.begin("a", "1").failed = True
    with pytest.raises(AssertionError):
        history.read("a", time.monotonic(), "1")
    assert not history.may_be_there("a", time.monotonic())


def test_the_etag_of_parts() -> None:
    """That of the documentation of S3: of the digests, with their number."""
    assert etag_of_parts(b"a", b"b").endswith("-2")


def test_what_is_left_of_an_upload() -> None:
    upload = Upload({1: {5}, 2: {0, 7}})
    upload.check({1: 5})
    upload.check({1: 5, 2: 7})
    for wrong in (None, {2: 7}, {1: 4}, {1: 5, 3: 1}):
        with pytest.raises(AssertionError):
            upload.check(wrong)
    upload.over = None
    upload.check(None)
    upload.check({1: 5})
    upload.over = True
    with pytest.raises(AssertionError):
        upload.check({1: 5})
