"""Names put together at random from lists of common given names and surnames."""

from __future__ import annotations

import polars as pl

from shoal.sample.draws import Floats, Places, pick

# Origin: share, women's names, men's names, surnames; ten of each, commoner ones first.
_ORIGINS = {
    "western": (
        30,
        "Emma Zoë Hannah Clara Chloé Elise Margot Fleur Noëlle Anaïs",
        "Paul Noah Lukas René Jürgen Hugo François Thijs Emile Loïc",
        "Meyer Jansen Müller Dubois Schäfer Lefèvre Visser Groß Bönisch Peeters",
    ),
    "british": (
        16,
        "Olivia Grace Alice Ruby Siân Niamh Freya Róisín Edith Isla",
        "Jack Oliver Harry Rhys George Seán Callum Alfie Owen Eoin",
        "Taylor Brown Walker Evans Hughes O'Neill Fletcher Pryce Ashworth Gallagher",
    ),
    "iberian": (
        14,
        "María Lucía Sofia Inês Carmen Núria Begoña Beatriz Íngrid Conceição",
        "José Diego João Ángel Íñigo Mateo Joaquín Gonçalo Rui Andrés",
        "García Silva Muñoz Pereira Núñez Ibáñez Araújo Peña Magalhães Bolaño",
    ),
    "slavic": (
        14,
        "Anna Zofia Katarína Małgorzata Ivana Jiřina Milena Živa Oksana Agnieszka",
        "Łukasz Jan Petr Miloš Paweł Ondřej Goran Žiga Taras Bogdan",
        "Nowak Novák Kowal Horvat Dvořák Wójcik Petrović Łapiński Černý Bondar",
    ),
    "nordic": (
        9,
        "Astrid Ingrid Åsa Sigríður Maja Søs Aino Tuulikki Liv Solveig",
        "Øyvind Lars Bjørn Åke Mikko Jón Søren Väinö Nils Þórir",
        "Hansen Lindqvist Sørensen Åberg Virtanen Nygård Mäkinen Bjørnstad Dahl Øverland",
    ),
    "mediterranean": (
        9,
        "Ayşe Elif Giulia Chiara Zeynep Eleni Gülşen Noemi Despina Şule",
        "Mehmet Luca Yiğit Matteo Çağlar Nikos Niccolò Ömer Stavros İlker",
        "Yılmaz Rossi Şahin Öztürk Ferrari Papadaki Çelik Marchetti Güneş Vlachos",
    ),
    "vietnamese": (
        4,
        "Linh Hương Thảo Ngọc Mỹ Trâm Hạnh Yến Thúy Quỳnh",
        "Minh Dũng Hùng Tuấn Đức Bảo Phúc Khánh Thắng Vĩnh",
        "Nguyễn Trần Lê Phạm Hoàng Vũ Đặng Bùi Đỗ Dương",
    ),
    "other": (
        4,
        "Amina Priya Fatou Leila Mei Adaeze Yuki Nāmaka Soraya Chipo",
        "Omar Arjun Kwame Reza Wei Chidi Kenji Kāne Farid Tendai",
        "Khan Sharma Diallo Hosseini Chen Okafor Tanaka Kealoha Haddad Moyo",
    ),
}
_LONG = 10
_SHARES = tuple(origin[0] for origin in _ORIGINS.values())
_MIXED = 0.12
"""Share of people whose given name is drawn apart from the origin of the surname."""

_women, _men, _surnames = (
    [name for origin in _ORIGINS.values() for name in str(origin[part]).split()] for part in (1, 2, 3)
)
GIVEN = pl.Series([*_women, *_men])
"""Women's names of every origin, then men's."""
SURNAMES = pl.Series(_surnames)


def full_names(draws: dict[str, Floats], is_man: Places) -> pl.Series:
    """Given name and surname of each person."""
    origin = pick(draws["origin"], _SHARES)
    # One draw does for both questions: below the share, what is left of it is uniform again.
    mixed = draws["mixed origin"] < _MIXED
    other = pick(draws["mixed origin"] / _MIXED * mixed, _SHARES)
    given_origin = origin * ~mixed + other * mixed
    given = GIVEN.gather(is_man * len(_women) + given_origin * _LONG + _common_first(draws["given name"]))
    surname = SURNAMES.gather(origin * _LONG + _common_first(draws["surname"]))
    return given + " " + surname


def _common_first(uniform: Floats) -> Places:
    """Pick a place on a list of ten; the first ones come up more often."""
    return pick(uniform, [1 / (place + 3) for place in range(_LONG)])
