"""NodeBalancers.

One public address for several instances: connections to its ports are shared out among nodes, the
private addresses of instances of its region.
"""
