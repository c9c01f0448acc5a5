-- Servers of object storage learn which keys are unlimited, and so set policies of buckets.

update object_key set revision = revision + 1 where not limited and not deleting;
