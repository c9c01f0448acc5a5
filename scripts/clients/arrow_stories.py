"""Arrow's file system, with which data frames read and write."""

import pyarrow as pa
import pyarrow.parquet as pq
from flows import run
from pyarrow import fs
from s3_stories import BUCKET, FILES, HOST, KEY, SECRET, body, large

S3 = fs.S3FileSystem(
    access_key=KEY, secret_key=SECRET, endpoint_override=HOST, scheme="http", region="us-east-1"
)


def write(name: str, data: bytes) -> None:
    with S3.open_output_stream(f"{BUCKET}/{name}") as stream:
        stream.write(data)


def read(name: str) -> bytes:
    with S3.open_input_file(f"{BUCKET}/{name}") as file:
        found: bytes = file.read()
    return found


def files() -> None:
    """files in folders there and back, copied, moved and deleted"""
    for name in FILES:
        write(name, body(name))
    selector = fs.FileSelector(BUCKET, recursive=True)
    found = {each.path: each.size for each in S3.get_file_info(selector) if each.is_file}
    assert found == {f"{BUCKET}/{name}": len(body(name)) for name in FILES}
    for name in FILES:
        assert read(name) == body(name), name
    S3.copy_file(f"{BUCKET}/a b.txt", f"{BUCKET}/copies/a+b%20c.txt")
    assert read("copies/a+b%20c.txt") == body("a b.txt")
    S3.move(f"{BUCKET}/ü", f"{BUCKET}/moved/ü")
    assert read("moved/ü") == body("ü")
    S3.delete_dir_contents(BUCKET)
    assert not S3.get_file_info(selector)


def tables() -> None:
    """a table in parts by a column, read back by a filter, and a file of several parts"""
    table = pa.table({"kind": ["a b", "ü", "a/b", "%41"] * 250, "number": list(range(1000))})
    pq.write_to_dataset(table, f"{BUCKET}/table", partition_cols=["kind"], filesystem=S3)
    back = pq.read_table(f"{BUCKET}/table", filesystem=S3).sort_by("number")
    assert back.column("number").to_pylist() == list(range(1000))
    assert back.column("kind").to_pylist() == table.column("kind").to_pylist()
    some = pq.read_table(f"{BUCKET}/table", filesystem=S3, filters=[("kind", "=", "a/b")])
    assert sorted(some.column("number").to_pylist()) == list(range(2, 1000, 4))
    write("large", large())
    assert read("large") == large()
    S3.delete_dir_contents(BUCKET)


run([files, tables])
