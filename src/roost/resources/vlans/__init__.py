"""VLANs.

Private layer 2 segments of an account, which interfaces of its instances are in.
"""
