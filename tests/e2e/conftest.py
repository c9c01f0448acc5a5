"""Let the checks that tests share say what they found."""

import pytest

pytest.register_assert_rewrite("tests.e2e.checks", "tests.e2e.careful", "tests.e2e.story")
