"""Domains: records by their types, what each type needs, and what registrars are told."""

from roost.console.pages import Page, Read, read

_ONE = "/domains/{domainId:int}"

PAGES = (
    Page(
        "/domains",
        "Domains",
        "list.html",
        {"list": Read("list_domains", listed=True)},
        lead="Names that this cloud answers for, and their records.",
        columns=("domain", "status", "type", "soa_email", "tags", "created"),
    ),
    Page(
        _ONE,
        "{domain}",
        "domains/domain.html",
        {
            "domain": read("view_domain"),
            "records": read("list_records", page_size="500"),
            "dnssec": read("view_dnssec"),
            "zone": read("view_zone_file"),
        },
    ),
    Page(f"{_ONE}/records", "Add a record", "domains/record.html", form="create_record"),
    Page(
        f"{_ONE}/records/{{recordId:int}}",
        "Edit a record",
        "domains/record.html",
        form="update_record",
    ),
)
