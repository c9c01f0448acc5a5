-- The label of an instance that is being deleted is free.

alter table compute_instance drop constraint compute_instance_account_id_label_key;
create unique index compute_instance_label on compute_instance (account_id, label)
    where status <> 'deleting';
-- Lists are filtered by label, and show those, too.
create index compute_instance_by_label on compute_instance (account_id, label);
