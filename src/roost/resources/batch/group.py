"""What the group consists of."""

from roost.core.group import Group
from roost.resources.batch import endpoints

GROUP = Group(endpoints=(endpoints,))
