"""NodeBalancers: an HAProxy in the gateway's namespace of a region."""
