"""Configs.

What an instance boots with: a kernel, disks and volumes at slots, network interfaces.
"""
