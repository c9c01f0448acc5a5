"""Checks of bodies that take long."""

from typing import Annotated

import pytest
from pydantic import AfterValidator, TypeAdapter, ValidationError

from roost.services import Services
from roost.web.checks import Checks, once
from roost.web.fields import refuse


def test_a_check_that_takes_long_is_done_once_of_each_text_of_a_body() -> None:
    seen = list[str]()

    def check(text: str) -> str:
        seen.append(text)
        if text == "bad":
            raise refuse("Must be good")
        return text

    texts = TypeAdapter(list[Annotated[str, AfterValidator(once(check))]])
    checks = Checks(Services())
    for _ in range(2):
        assert texts.validate_python(["one", "two", "one"], context=checks) == ["one", "two", "one"]
    assert seen == ["one", "two"]
    with pytest.raises(ValidationError, match="Must be good"):
        texts.validate_python(["one", "bad"], context=checks)
    assert texts.validate_python(["one"], context=Checks(Services())) == ["one"]
    assert seen == ["one", "two", "bad", "one"]
