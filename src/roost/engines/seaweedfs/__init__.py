"""Object storage by SeaweedFS: one server for each region that has buckets."""
