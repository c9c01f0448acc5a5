"""What a guest is given."""

import pytest
from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from roost.resources.compute.disks.records import SealedSetup
from roost.resources.compute.rules import strong_password


def test_secrets_of_a_damaged_set_up_are_not_told() -> None:
    with pytest.raises(ValidationError) as failed:
        SealedSetup.model_validate({"root_pass": ["hunter2"]})
    assert "hunter2" not in str(failed.value)


@pytest.mark.parametrize(
    "password",
    [
        "correct-Horse7battery",
        "x7-Tangerine",
        "Tr0ub4dour&3",
        "m9$Vq2!x",
        "x7-Tangerine" + "é" * 116,
    ],
)
def test_passwords_that_are_strong_enough(password: str) -> None:
    assert strong_password(password) == password


@pytest.mark.parametrize(
    "password",
    [
        "password",
        "Passw0rd1",
        "qwertyuiop",
        "a" * 128,
        "12345678901234567890",
        "Winter2021",
        "a" * 24 + "m9$Vq2!x",
    ],
)
def test_passwords_that_are_not(password: str) -> None:
    with pytest.raises(PydanticCustomError, match="Password does not meet strength requirement"):
        strong_password(password)
