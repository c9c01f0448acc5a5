-- The revision of the API in which somebody speaks who does not say so with each request. The defaults
-- are what new rows get: a release with another revision changes them.

alter table token add column revision text not null default '2026-11-27';
alter table oauth_client add column revision text not null default '2026-11-27';
alter table webhook add column revision text not null default '2026-11-27';
comment on column oauth_client.revision is 'That of the tokens of all who have let it in';
