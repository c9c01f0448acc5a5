"""Private images: their numbers, and which engine holds them."""

UPGRADE = """
create sequence image_number start with 100000;

alter table image
    add column number bigint unique,
    add column region text,
    add column engine text,
    add column compute_id bigint,
    add column deleting boolean not null default false,
    add check (account_id is null or (number is not null and region is not null
        and engine is not null));
comment on column image.number is 'Of private ones, whose id is private/<number>';
comment on column image.region is 'Of the engine that holds it; any region can use it';
comment on column image.compute_id is 'The instance of whose disk it is being made';
comment on column image.deleting is 'Shown to nobody, until no engine holds it any more';
create index on image (region, number);

create function drop_image_grants() returns trigger language plpgsql as $$
begin
    delete from entity_grant where kind = 'image' and entity_id = old.number;
    return null;
end $$;

create trigger drop_grants after delete on image
    for each row when (old.number is not null) execute function drop_image_grants();
"""

DOWNGRADE = """
delete from image where number is not null;
drop trigger drop_grants on image;
drop function drop_image_grants();
alter table image
    drop column number, drop column region, drop column engine,
    drop column compute_id, drop column deleting;
drop sequence image_number;
"""
