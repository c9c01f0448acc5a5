"""From an instance's row to its engine."""

import pytest
from pydantic import ValidationError

from roost.resources.compute.engine import EngineError
from roost.resources.compute.guest import InstanceEngines, SealedSetup


def test_a_region_that_is_not_served_is_named() -> None:
    with pytest.raises(EngineError, match=r"^Region atlantis is not served by this worker\.$"):
        InstanceEngines({}).of("atlantis")


def test_secrets_of_a_damaged_set_up_are_not_told() -> None:
    with pytest.raises(ValidationError) as failed:
        SealedSetup.model_validate({"root_pass": ["hunter2"]})
    assert "hunter2" not in str(failed.value)
