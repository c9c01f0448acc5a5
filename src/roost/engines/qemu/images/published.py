"""Images of the built-in catalogue that are not built here, as their makers publish them.

Each is a disk that boots by itself and is set up by cloud-init: what `roost image import` takes.
"""

from collections.abc import Mapping

PUBLISHED: Mapping[str, str] = {
    "roost/debian11": "https://cloud.debian.org/images/cloud/bullseye/latest/"
    "debian-11-genericcloud-amd64.qcow2",
    "roost/ubuntu20.04": "https://cloud-images.ubuntu.com/releases/focal/release/"
    "ubuntu-20.04-server-cloudimg-amd64.img",
    "roost/ubuntu22.04": "https://cloud-images.ubuntu.com/releases/jammy/release/"
    "ubuntu-22.04-server-cloudimg-amd64.img",
    "roost/almalinux8": "https://repo.almalinux.org/almalinux/8/cloud/x86_64/images/"
    "AlmaLinux-8-GenericCloud-latest.x86_64.qcow2",
    "roost/almalinux9": "https://repo.almalinux.org/almalinux/9/cloud/x86_64/images/"
    "AlmaLinux-9-GenericCloud-latest.x86_64.qcow2",
    "roost/rocky9": "https://dl.rockylinux.org/pub/rocky/9/images/x86_64/"
    "Rocky-9-GenericCloud.latest.x86_64.qcow2",
    "roost/alpine3.19": "https://dl-cdn.alpinelinux.org/alpine/v3.19/releases/cloud/"
    "nocloud_alpine-3.19.1-x86_64-bios-cloudinit-r0.qcow2",
    "roost/arch": "https://geo.mirror.pkgbuild.com/images/latest/Arch-Linux-x86_64-cloudimg.qcow2",
}
"""URLs by the images' ids."""
