"""Hosts of one cloud: what is known of each, and on which one something new is made."""
