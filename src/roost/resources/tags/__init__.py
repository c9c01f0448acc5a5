"""Tags.

Labels that users put on their entities.
"""
