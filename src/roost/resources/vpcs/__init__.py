"""VPCs.

Private networks of an account: subnets that route to each other and to nobody else, but for
addresses with 1:1 NAT.
"""
