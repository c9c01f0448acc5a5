"""Benchmarks of Roost against the bare parts that it is made of."""
