-- Giving positions to changes of events takes one round trip: whoever looks 50 times a second waits
-- for none in between. Each statement of the function sees what was committed before it, so that the
-- second one sees all that had a position when the lock was taken.

create function order_event_changes(most bigint) returns boolean language plpgsql as $$
declare
    before bigint;
    placed bigint;
begin
    if not exists (select from event_change where position is null) then
        return false;
    end if;
    select last into before from event_order for update;
    with new as (
        select id, row_number() over (order by id) as number from (
            select id from event_change where position is null order by id limit most) as first
    ), given as (
        update event_change c set position = before + new.number from new where c.id = new.id
        returning c.id
    )
    select count(*) into placed from given;
    update event_order set last = before + placed;
    return placed = most;
end $$;
