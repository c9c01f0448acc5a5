"""What the group consists of."""

from roost.core.group import Group
from roost.resources.stackscripts import endings, endpoints, queries
from roost.resources.stackscripts.neighbours import DeployedStackScripts
from roost.resources.stackscripts.queries import STACKSCRIPT

GROUP = Group(
    endpoints=(endpoints,),
    entities=(STACKSCRIPT,),
    limits=(queries.LIMIT,),
    neighbours=(DeployedStackScripts(),),
    endings=(endings.STACKSCRIPTS,),
)
