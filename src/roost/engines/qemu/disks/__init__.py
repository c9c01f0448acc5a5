"""Disks of guests: made, resized, copied, backed up, and made images of."""
