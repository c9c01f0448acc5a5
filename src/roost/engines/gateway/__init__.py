"""The S3 server in front of SeaweedFS: a process of its own for each region (decision 0095)."""
