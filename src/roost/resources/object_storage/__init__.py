"""Object storage.

Buckets that any S3 client can use, and the keys to use them with.
"""
