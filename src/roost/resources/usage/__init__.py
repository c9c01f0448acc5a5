"""Usage.

What your instances use: processor, disks, network, and the transfer that your plans give.
"""
