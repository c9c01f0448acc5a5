"""A pytest plug-in with which the suite of `scripts/try-s3-tests` runs: its settings, which come as
JSON, without the programs and files of its own that it otherwise needs."""

import itertools
import json
import os
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

_fabric: Any = ModuleType("fabric")
_fabric.Connection = None
sys.modules["fabric"] = _fabric  # It would log in at the server, for which there is no need.

_OWN_MARKS = (
    *("ess", "ess_maybe", "fails_on_aws", "fails_on_ess", "fails_on_rgw"),
    "lifecycle_need_speedup",
)


def pytest_configure(config: pytest.Config) -> None:
    for mark in _OWN_MARKS:
        config.addinivalue_line("markers", mark)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What another server fails may pass here."""
    for item in items:
        item.own_markers = [each for each in item.own_markers if each.name not in ("xfail", "skip")]


@pytest.fixture(scope="session", autouse=True)
def s3cfg_global_unique() -> SimpleNamespace:
    settings = json.loads(os.environ["S3_TESTS_SETTINGS"])
    return SimpleNamespace(**settings, bucket_counter=itertools.count(1))
