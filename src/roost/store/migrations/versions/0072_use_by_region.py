"""From which region instances sent, for the pools of regions."""

UPGRADE = """
alter table usage_month add column region text not null default '';
comment on column usage_month.region is 'Where the instance was; empty: not known';
update usage_month m set region = l.region from (
    select distinct on (resource_id) resource_id, region from ledger
    where service = 'compute' order by resource_id, id desc) l
where l.resource_id = m.compute_id;
update usage_month m set region = i.region from compute_instance i where i.id = m.compute_id;
alter table usage_month alter column region drop default, drop constraint usage_month_pkey,
    add primary key (account_id, month, compute_id, region);
"""

DOWNGRADE = """
create temporary table summed on commit drop as
    select account_id, month, compute_id, sum(bytes_in)::bigint as bytes_in,
        sum(bytes_out)::bigint as bytes_out
    from usage_month group by account_id, month, compute_id;
delete from usage_month;
alter table usage_month drop constraint usage_month_pkey, drop column region,
    add primary key (account_id, month, compute_id);
insert into usage_month (account_id, month, compute_id, bytes_in, bytes_out)
select account_id, month, compute_id, bytes_in, bytes_out from summed;
drop table summed;
"""
