"""Images.

What disks of instances are copied from.
"""
