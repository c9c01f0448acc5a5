"""What is free of a service, invoices that keep their customer, and parents who pay."""

UPGRADE = """
alter table unit_price add column free integer not null default 0;
comment on column unit_price.free is 'Units of an account that cost nothing';
comment on column ledger.monthly is
    'US dollars for one; with no hourly price: what was used up at once';

alter table account add column parent_pays boolean not null default false;
comment on column account.parent_pays is 'Whether its parent owes what it is invoiced for';

alter table invoice add column customer json;
comment on column invoice.customer is 'Whom it was made for, as the account said then';
update invoice i set customer = json_build_object(
    'company', a.company, 'first_name', a.first_name, 'last_name', a.last_name,
    'address_1', a.address_1, 'address_2', a.address_2, 'city', a.city, 'state', a.state,
    'zip', a.zip, 'country', a.country, 'tax_id', a.tax_id)
from account a where a.id = i.account_id;
alter table invoice alter column customer set not null;
"""

DOWNGRADE = """
alter table invoice drop column customer;
alter table account drop column parent_pays;
comment on column ledger.monthly is null;
alter table unit_price drop column free;
"""
