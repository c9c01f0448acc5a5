"""Guests as QEMU processes of this host, with their disks, volumes, images and networks."""
