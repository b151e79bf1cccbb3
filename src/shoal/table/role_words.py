"""Roles by the words that others use for them: what a file or a call meant that is not spelt as ours."""

from __future__ import annotations

import re
from collections.abc import Iterable

from shoal.errors import did_you_mean

_MEANT = {
    "quasi": "quasiidentifier quasiidentifiers quasiidentifying qi qid qis indirect indirectidentifier key keyvariable",
    "identifying": "id ids identifier identifiers direct directidentifier pii unique uniqueidentifier",
    "sensitive": "sensitiveattribute sensitiveattributes sa confidential secret private protected",
    "neutral": "insensitive nonsensitive nonconfidential nonidentifying other public keep attribute",
    "choice": "preference consent",
}
_ROLE_OF = {word: role for role, words in _MEANT.items() for word in words.split()}


def meant_role(word: object, roles: Iterable[str]) -> str:
    """Say which role a word stands for elsewhere, or is near to; empty where none is.

    >>> meant_role("quasi-identifier", ["quasi", "sensitive"]), meant_role("sensitiv", ["quasi", "sensitive"])
    ("did you mean 'quasi'?", "did you mean 'sensitive'?")
    """
    if not isinstance(word, str):
        return ""
    role = _ROLE_OF.get(re.sub(r"[\W_]", "", word.casefold()))
    known = list(roles)
    if role in known:
        return f"did you mean {role!r}?"
    near = did_you_mean(word, known)
    return near if near.startswith("did") else ""
