"""How a page of the operator is declared."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from roost.dashboard.desk import Desk
from roost.dashboard.parts import Asked, Part

Sent = Mapping[str, str]
"""What a form says."""
Read = Callable[[Desk, Asked], Awaitable[Sequence[Part]]]
Do = Callable[[Desk, Asked, Sent], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Input:
    name: str
    title: str
    options: Sequence[str] = ()
    """What can be chosen; anything where there are none."""
    value: str = ""
    are_buttons: bool = False
    """Whether each option is a button that sends the form."""


@dataclass(frozen=True, slots=True)
class Act:
    """What can be done on a page."""

    name: str
    title: str
    text: str
    do: Do
    inputs: Sequence[Input] = ()
    confirm: str | None = None
    """The parameter of the address that has to be typed again first."""

    @property
    def buttons(self) -> Input | None:
        """What takes the place of its one button, if anything does."""
        return next((each for each in self.inputs if each.are_buttons), None)


@dataclass(frozen=True, slots=True)
class Page:
    path: str
    title: str
    """With parameters of the path in braces."""
    read: Read
    lead: str = ""
    filters: Sequence[Input] = ()
    acts: Sequence[Act] = ()
    in_menu: bool = False

    def title_of(self, asked: Asked) -> str:
        return self.title.format_map(asked.params)
