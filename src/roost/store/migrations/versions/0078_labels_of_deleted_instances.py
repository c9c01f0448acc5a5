"""The label of an instance that is being deleted is free."""

UPGRADE = """
alter table compute_instance drop constraint compute_instance_account_id_label_key;
create unique index compute_instance_label on compute_instance (account_id, label)
    where status <> 'deleting';
"""

DOWNGRADE = """
update compute_instance i set label = 'compute' || i.id
where status = 'deleting' and exists (
    select from compute_instance o
    where o.account_id = i.account_id and o.label = i.label and o.id <> i.id);
drop index compute_instance_label;
alter table compute_instance
    add constraint compute_instance_account_id_label_key unique (account_id, label);
"""
