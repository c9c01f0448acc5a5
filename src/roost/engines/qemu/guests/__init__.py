"""Guests: their directories and users, and their QEMU processes, asked and switched off."""
