"""RBD images of a Ceph cluster that the operator runs, by the programs `rbd` and `ceph`."""
