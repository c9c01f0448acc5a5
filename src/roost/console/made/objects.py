"""Object storage: a bucket with its objects, as folders."""

from roost.console.pages import Page, read

PAGES = (
    Page(
        "/object-storage/buckets/{clusterId}/{bucket}",
        "{label}",
        "objects/bucket.html",
        {
            "bucket": read("view_bucket"),
            "objects": read("list_objects", delimiter="/"),
            "access": read("view_bucket_access"),
        },
    ),
)
