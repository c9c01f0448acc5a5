"""What servers of databases may take: what the kernel is told, and that it holds where it can."""

import os
from pathlib import Path

import pytest

from roost.core.engine import EngineError
from roost.engines.databases.limits import Limits
from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.server import Server
from tests.engines.conftest import ids
from tests.engines.database_harness import open_mariadb, spec_of


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Files as the kernel has them where groups can have limits."""
    tree = tmp_path / "tree"
    for each in (tree, tree / "roost"):
        each.mkdir()
        (each / "cgroup.subtree_control").write_text("memory pids\n")
    (tree / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    return tree


@pytest.fixture
def node(tmp_path: Path) -> Folder:
    node = Folder.of(tmp_path, 100001)
    node.path.mkdir(parents=True)
    return node


def test_the_plan_is_the_limit(tree: Path, node: Folder) -> None:
    limits, group = Limits(tree), Limits(tree).group(node)
    limits.put(node, spec_of(100001, "mariadb", "10.11"))
    assert (group / "memory.max").read_text() == str(1024 * 1024 * 1024)
    assert (group / "memory.swap.max").read_text() == "0"
    assert (group / "cpu.max").read_text() == "100000 100000"
    for each in (tree, tree / "roost"):
        assert (each / "cgroup.subtree_control").read_text() == "+cpu +io"


def test_two_servers_have_two_groups(tree: Path, node: Folder, tmp_path: Path) -> None:
    limits = Limits(tree)
    groups = {
        limits.group(each) for each in (node, node.node(1), Folder.of(tmp_path / "b", 100001))
    }
    assert len(groups) == 3


@pytest.mark.parametrize(
    ("controllers", "told"),
    [
        (None, "control groups (version 2) are not mounted"),
        ("hugetlb", "control groups lack cpu, io, memory"),
        ("cpu memory", "control groups lack io"),
    ],
)
def test_where_there_can_be_none(
    tree: Path, node: Folder, controllers: str | None, told: str
) -> None:
    """Databases are served all the same; the start-up table says why they have no limits."""
    path = tree / "cgroup.controllers"
    path.unlink()
    if controllers is not None:
        path.write_text(controllers)
    limits = Limits(tree)
    assert limits.problem() == told
    limits.put(node, spec_of(100001, "mariadb", "10.11"))
    assert not limits.group(node).exists()


def test_what_the_kernel_refuses_is_told(tree: Path, node: Folder) -> None:
    limits = Limits(tree)
    (limits.group(node) / "cpu.max").mkdir(parents=True)
    with pytest.raises(EngineError, match="limits of the plan could not be put in force"):
        limits.put(node, spec_of(100001, "mariadb", "10.11"))


async def test_a_server_is_in_its_group(tmp_path: Path) -> None:
    """Of a real kernel; deleting the database leaves no group."""
    if os.geteuid() != 0 or (reason := Limits().problem()) is not None:
        pytest.skip("only root makes control groups" if os.geteuid() else str(reason))
    mariadb = await open_mariadb(tmp_path)
    spec = mariadb.spec(next(ids))
    folder = Folder.of(tmp_path, spec.id)
    group = Limits().group(folder)
    try:
        await mariadb.engine.create(spec)
        process = Server(folder).process()
        assert process is not None
        assert str(process.pid) in (group / "cgroup.procs").read_text().split()
        assert int((group / "memory.max").read_text()) == spec.memory * 1024 * 1024
        await mariadb.engine.delete(spec.id)
        assert not group.exists()
    finally:
        await mariadb.close()
