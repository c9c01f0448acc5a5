"""The operator's pages, in the order of their menu."""

from roost.dashboard.made import accounts, hosts, lab, now, work
from roost.dashboard.page import Page

LAB = lab.PAGES
"""Those of a server that has one, and of no other."""
PAGES: tuple[Page, ...] = (*now.PAGES, *accounts.PAGES, *hosts.PAGES, *work.PAGES)
