"""Volumes.

Block storage that outlives the instance that it is attached to.
"""
