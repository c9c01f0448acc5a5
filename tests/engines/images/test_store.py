"""The image store: ids, and that nobody sees half an image."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from roost.engines.qemu.images.adopting import adopt
from roost.engines.qemu.images.commands import ImageError
from roost.engines.qemu.images.store import INFO, KERNEL, ROOT, ImageInfo, ImageStore, check_id


def info_of(image_id: str = "roost/mini") -> ImageInfo:
    return ImageInfo(
        id=image_id,
        boot="kernel",
        kernel_args="quiet",
        setup="fw_cfg",
        cloud_init=False,
        virtual_size=64,
    )


async def put(store: ImageStore, text: str, image_id: str = "roost/mini") -> None:
    async with store.draft(image_id) as draft:
        for name in (ROOT, KERNEL, "initrd"):
            (draft.image / name).write_text(text)
        (draft.work / "scraps").touch()
        draft.publish(info_of(image_id))


async def fail_to_put(store: ImageStore) -> None:
    async with store.draft("roost/mini") as draft:
        (draft.image / ROOT).write_text("half")
        raise RuntimeError


@pytest.mark.parametrize("image_id", ["roost/mini", "private/123", "a/b", "x-1_y.z/debian-12.1"])
def test_good_ids(image_id: str) -> None:
    assert check_id(image_id) == image_id


@pytest.mark.parametrize(
    "image_id",
    [
        *("", "mini", "/mini", "roost/", "roost/mini/x", "roost//mini", "../mini", "roost/.."),
        *("roost/.mini", ".versions/x", "Roost/mini", "roost/mini\n", "roost/m ni", "roost/m\0"),
        *("roost/" + "a" * 64, "roost\\mini", "roost/\u00e9"),
    ],
)
def test_bad_ids_never_become_paths(store: ImageStore, image_id: str) -> None:
    with pytest.raises(ImageError, match="is not an image id"):
        store.find(image_id)
    with pytest.raises(ImageError, match="is not an image id"):
        store.remove(image_id)


async def test_a_finished_image_is_found(store: ImageStore) -> None:
    assert store.find("roost/mini") is None
    assert store.list() == []
    await put(store, "one")
    image = store.find("roost/mini")
    assert image is not None
    assert image.info == info_of()
    assert image.root.read_text() == "one"
    assert image.kernel is not None
    assert image.kernel.read_text() == "one"
    assert store.list() == [image]


async def test_an_image_is_seen_only_when_it_is_whole(store: ImageStore) -> None:
    async with store.draft("roost/mini") as draft:
        (draft.image / ROOT).write_text("half")
        assert store.find("roost/mini") is None
        assert store.list() == []
        draft.publish(info_of())
    assert store.find("roost/mini") is not None


async def test_a_failed_build_leaves_the_old_image_and_no_rest(store: ImageStore) -> None:
    await put(store, "one")
    before = sorted(store.root.rglob("*"))
    with pytest.raises(RuntimeError):
        await fail_to_put(store)
    assert sorted(store.root.rglob("*")) == before


async def test_a_draft_is_published_under_its_own_id(store: ImageStore) -> None:
    async with store.draft("roost/mini") as draft:
        with pytest.raises(ValueError, match="roost/other"):
            draft.publish(info_of("roost/other"))


async def test_an_image_is_made_by_one_at_a_time(store: ImageStore) -> None:
    again = ImageStore(store.root)
    async with store.draft("roost/mini") as draft:
        second = asyncio.create_task(put(again, "two"))
        async with asyncio.timeout(60):
            await put(again, "other", "roost/other")
        assert not second.done()
        (draft.image / ROOT).write_text("one")
        draft.publish(info_of())
        published = store.find("roost/mini")
        assert published is not None
        assert published.root.read_text() == "one"
    await second
    image = store.find("roost/mini")
    assert image is not None
    assert image.root.read_text() == "two"


_KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from roost.engines.qemu.images.store import ImageStore

async def main() -> None:
    async with ImageStore(Path(sys.argv[1])).draft("roost/mini") as draft:
        (draft.image / "root.qcow2").write_text("half")
        (draft.work / "scraps").touch()
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


async def test_what_a_killed_process_has_left_is_removed_by_the_next(store: ImageStore) -> None:
    await put(store, "one")
    before = sorted(store.root.rglob("*"))
    killed = await asyncio.create_subprocess_exec(sys.executable, "-c", _KILLED, store.root)
    assert await killed.wait() == -signal.SIGKILL
    assert sorted(store.root.rglob("*")) != before
    with pytest.raises(RuntimeError):
        await fail_to_put(store)
    assert sorted(store.root.rglob("*")) == before


async def test_a_new_build_replaces_the_old_one(store: ImageStore) -> None:
    await put(store, "one")
    await put(store, "two")
    image = store.find("roost/mini")
    assert image is not None
    assert image.root.read_text() == "two"
    assert len(list(store.root.rglob(ROOT))) == 1


async def test_links_outlive_replacement_and_removal(store: ImageStore, tmp_path: Path) -> None:
    await put(store, "one")
    image = store.find("roost/mini")
    assert image is not None
    linked = image.link(tmp_path / "guest")
    assert linked.root.stat().st_ino == image.root.stat().st_ino
    await put(store, "two")
    store.remove("roost/mini")
    assert store.find("roost/mini") is None
    assert linked.root.read_text() == "one"


async def test_images_are_listed_by_id(store: ImageStore) -> None:
    for image_id in ("roost/mini", "private/10", "roost/debian12"):
        await put(store, "x", image_id)
    assert [i.info.id for i in store.list()] == ["private/10", "roost/debian12", "roost/mini"]
    store.remove("roost/mini")
    store.remove("roost/mini")
    assert [i.info.id for i in store.list()] == ["private/10", "roost/debian12"]


async def test_a_damaged_description_is_reported(store: ImageStore) -> None:
    await put(store, "one")
    image = store.find("roost/mini")
    assert image is not None
    (image.directory / INFO).write_text("{}")
    with pytest.raises(ImageError, match=INFO):
        store.find("roost/mini")


async def test_clouds_that_share_a_root_keep_private_images_apart(tmp_path: Path) -> None:
    one, other = (ImageStore(tmp_path, tmp_path / ".clouds" / name) for name in ("one", "other"))
    await put(one, "built")
    await put(one, "of one", "private/100000")
    assert other.find("private/100000") is None
    assert [image.info.id for image in other.list()] == ["roost/mini"]
    await put(other, "of the other", "private/100000")
    for store, text in ((one, "of one"), (other, "of the other")):
        assert [image.info.id for image in store.list()] == ["private/100000", "roost/mini"]
        image = store.find("private/100000")
        assert image is not None
        assert image.root.read_text() == text
    one.remove("private/100000")
    one.forget_versions("private/100000")
    assert one.find("private/100000") is None
    assert other.find("private/100000") is not None


@pytest.mark.parametrize("begun", [False, True])
async def test_private_images_of_the_root_are_adopted_once(tmp_path: Path, *, begun: bool) -> None:
    """Also where a process was killed between moving the version and linking it."""
    former = ImageStore(tmp_path)
    await put(former, "one", "private/100000")
    await put(former, "two", "private/100001")
    one, other = (ImageStore(tmp_path, tmp_path / ".clouds" / name) for name in ("one", "other"))
    if begun:
        version = (tmp_path / "private/100000").resolve()
        place = one.private / ".versions/private/100000" / version.name
        place.parent.mkdir(parents=True)
        version.rename(place)
    taken = await adopt(one, lambda image: image.info.id == "private/100000")
    assert taken == ["private/100000"]
    assert await adopt(other, lambda _image: True) == ["private/100001"]
    for store, image_id, text in ((one, "private/100000", "one"), (other, "private/100001", "two")):
        assert [image.info.id for image in store.list()] == [image_id]
        assert store.list()[0].root.read_text() == text
    assert await adopt(one, lambda _image: True) == []
