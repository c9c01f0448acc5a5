"""Images: those of the cloud and one's own, uploaded or captured from a disk."""

from roost.console.pages import Page, Read, read

PAGES = (
    Page(
        "/images",
        "Images",
        "list.html",
        {"list": Read("list_images", listed=True)},
        lead="What first disks of instances are made of. Your own are those that you upload, and "
        "captures of disks.",
        columns=("label", "id", "status", "type", "size", "is_public", "created"),
    ),
    Page(
        "/images/upload",
        "Upload an image",
        "images/upload.html",
        lead="A disk as it is (`raw`), also compressed by gzip.",
        form="upload_image",
    ),
    Page(
        "/compute/instances/{computeId:int}/disks/{diskId:int}",
        "{label}",
        "images/disk.html",
        {"disk": read("view_disk")},
    ),
)
