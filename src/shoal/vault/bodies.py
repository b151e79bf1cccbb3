"""What requests hold: read and checked before anything is done; what is wrong is told without what was given."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from shoal.vault.service import MOST_RULES

NO_NUL = r"^[^\x00]*$"
"""PostgreSQL keeps no such letter."""
Text = Annotated[str, Field(min_length=1, max_length=200, pattern=NO_NUL)]
MANY = 2**53
"""Numbers in requests are not larger: JSON has no larger ones that are whole."""


class Body(BaseModel):
    """What a request holds: no key that is not known."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class SignIn(Body):
    """Name and password."""

    name: Text
    password: Annotated[str, Field(min_length=1, max_length=1000)]


class AskRules(Body):
    """Rules to interpret: each as text, or as what each column shows by side."""

    release: Text
    rules: Annotated[list[dict[str, Any] | str], Field(min_length=1, max_length=MOST_RULES)]


class AskValues(Body):
    """Cells of one column to interpret."""

    release: Text
    column: Text
    cells: Annotated[list[Annotated[str, Field(max_length=1000)] | float], Field(min_length=1, max_length=MOST_RULES)]


class NewPerson(Body):
    """Somebody to add."""

    name: Text
    role: Literal["researcher", "steward"] = "researcher"
    password: Annotated[str, Field(max_length=1000)] | None = None


class NewGrant(Body):
    """What somebody may ask."""

    name: Text
    release: Text
    column: Text
    operation: Literal["rules", "values"] = "rules"
    budget: Annotated[int, Field(ge=1, le=MANY)]
    days: Annotated[int, Field(ge=1, le=3650)]


class OldGrant(Body):
    """What somebody may ask no more."""

    name: Text
    release: Text
    column: Text | None = None
    operation: Literal["rules", "values"] | None = None


class Name(Body):
    """Somebody."""

    name: Text


class GivenKey(Body):
    """The master key."""

    key: Annotated[str, Field(max_length=1000)]
