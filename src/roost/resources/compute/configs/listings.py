"""How configs and their interfaces are read."""

from roost.store.paging import Column, Listing

_RUNS = "i.status in ('running', 'rebooting', 'shutting_down') and not i.rescued"
_ACTIVE = f"i.config_id = c.id and {_RUNS}"

_PRIMARY = """
    (f."primary" or f.purpose <> 'vlan' and not exists (
        select from compute_interface o where o.config_id = f.config_id
            and (o."primary" or (o.purpose <> 'vlan' and o.position < f.position))))
    """

_INTERFACE = f"""
    f.id, f.label, f.ipam_address, f.purpose, {_ACTIVE} as active, {_PRIMARY} as "primary",
    null as vpc_id, null as subnet_id, null as ipv4, json '[]' as ip_ranges
    """

_SLOTS = ", ".join(
    f"(array_agg(device) filter (where slot = 'sd{n}'))[1] as sd{n}" for n in "abcdefgh"
)

INTERFACES = Listing(
    record=_INTERFACE,
    source="""
        compute_interface f join compute_config c on c.id = f.config_id
        join compute_instance i on i.id = c.compute_id
        """,
    scope="i.account_id = $1 and i.id = $2 and c.id = $3",
    key="f.id",
    columns={},
)

CONFIGS = Listing(
    record=f"""
        c.id, c.label, c.kernel, c.comments, c.memory_limit, c.run_level, c.virt_mode,
        (select coalesce(json_agg((select row_to_json(record) from (select {_INTERFACE}) record)
                order by f.position), '[]')
            from compute_interface f where f.config_id = c.id) as interfaces,
        c.helpers,
        (select row_to_json(slots) from (select {_SLOTS} from (
            select d.slot, (select row_to_json(it) from (select d.disk_id, d.volume_id) it)
                as device
            from compute_config_device d where d.config_id = c.id) d) slots) as devices,
        c.root_device, null as initrd, c.created, c.updated
        """,  # noqa: S608 - constants
    source="compute_config c join compute_instance i on i.id = c.compute_id",
    scope="i.account_id = $1 and c.compute_id = $2",
    key="c.id",
    columns={
        "label": Column("c.label", "text", folds=True),
        "created": Column("c.created", "time"),
    },
)
