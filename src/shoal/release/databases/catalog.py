"""What the catalog of PostgreSQL says of a release: whether it has tables as Shoal makes them, and nothing else.

A database keeps much beside rows: comments, indexes with conditions, triggers with arguments, types with labels. A
reader of the rows would see none of it. Rights are not looked at: who may read a release, its holder decides.
"""

from __future__ import annotations

LISTED = "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname ="
"""Tables of PostgreSQL, by their schema."""

_OF = "EXISTS (SELECT 1 FROM pg_catalog.{} WHERE {} = c.oid)"
_SAID = """EXISTS (SELECT 1 FROM pg_catalog.{}
WHERE classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND objoid = c.oid)"""
_SAID_OF_ROWS = """EXISTS (SELECT 1 FROM pg_catalog.{} JOIN pg_catalog.pg_type r ON objoid = r.oid
WHERE classoid = 'pg_catalog.pg_type'::pg_catalog.regclass AND c.reltype IN (r.oid, r.typelem))"""
"""PostgreSQL makes two types for each table, of its rows and of arrays of them."""
_COLUMN = """EXISTS (SELECT 1 FROM pg_catalog.pg_attribute a LEFT JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = c.oid AND a.attnum > 0 AND ({}))"""
_SOME_OF_IT = (
    "coalesce(pg_catalog.to_jsonb(p) ->> 'prqual', pg_catalog.to_jsonb(p) ->> 'prattrs') IS NOT NULL AND prrelid"
)
"""As text, since servers before PostgreSQL 15 have no such columns."""
_COMPRESSED = "coalesce(pg_catalog.to_jsonb(a) ->> 'attcompression', '') <> ''"
"""As text, since servers before PostgreSQL 14 have no such columns."""
_TYPE = "pg_catalog.format_type(a.atttypid, a.atttypmod)"

ODDITIES = {
    "it is a view, or something else that is no table": "c.relkind <> 'r'",
    "it is not logged": "c.relpersistence <> 'p'",
    "it is made after a type": "c.reloftype <> 0",
    "it has options": "c.reloptions IS NOT NULL OR EXISTS (SELECT 1 FROM pg_catalog.pg_class o "
    "WHERE o.oid = c.reltoastrelid AND o.reloptions IS NOT NULL)",
    "it is replicated in another way": "c.relreplident <> 'd'",
    "it has policies": f"c.relrowsecurity OR c.relforcerowsecurity OR {_OF.format('pg_policy', 'polrelid')}",
    "it has rules": "c.relhasrules",
    "it inherits, or is inherited from": "EXISTS (SELECT 1 FROM pg_catalog.pg_inherits "
    "WHERE c.oid IN (inhparent, inhrelid))",
    "it has constraints": _OF.format("pg_constraint", "conrelid"),
    "it has indexes": _OF.format("pg_index", "indrelid"),
    "it has triggers": _OF.format("pg_trigger", "tgrelid"),
    "it has statistics": _OF.format("pg_statistic_ext", "stxrelid"),
    "a publication shows some of its rows or columns": _OF.format("pg_publication_rel p", _SOME_OF_IT),
    "it has comments": _SAID.format("pg_description"),
    "it has security labels": _SAID.format("pg_seclabel"),
    "the type of its rows has comments": _SAID_OF_ROWS.format("pg_description"),
    "the type of its rows has security labels": _SAID_OF_ROWS.format("pg_seclabel"),
    "a column was dropped": _COLUMN.format("a.attisdropped"),
    "a column has a default": _COLUMN.format("a.atthasdef AND NOT a.attisdropped"),
    "a column was added with a default": _COLUMN.format("a.atthasmissing AND NOT a.attisdropped"),
    "a column must not be null": _COLUMN.format("a.attnotnull AND NOT a.attisdropped"),
    "a column has options": _COLUMN.format("a.attoptions IS NOT NULL"),
    "a column is stored in another way": _COLUMN.format(f"a.attstorage <> t.typstorage OR {_COMPRESSED}"),
    "a column has a statistics target": _COLUMN.format("coalesce(a.attstattarget, -1) <> -1 AND NOT a.attisdropped"),
    "a column has another collation": _COLUMN.format("a.attcollation <> t.typcollation"),
    "a column has a type that Shoal does not write": _COLUMN.format(
        f"NOT a.attisdropped AND {_TYPE} NOT IN "
        "('bigint', 'double precision', 'boolean', 'date', 'text', 'timestamp without time zone')"
    ),
}
"""What can be odd about a table of PostgreSQL, in words and as a condition.

Of a table as a release has it nothing decides who sees which rows, and nothing but its cells holds a text or a number.
A column that was dropped is in the rows still. With another collation, texts that differ could be equal.
"""

OTHER_OBJECTS = """SELECT 1 FROM pg_catalog.pg_namespace n WHERE n.nspname = {schema} AND (
EXISTS (SELECT 1 FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_class k ON k.oid = d.classid
WHERE d.refclassid = 'pg_catalog.pg_namespace'::pg_catalog.regclass AND d.refobjid = n.oid
AND k.relname NOT IN ('pg_class', 'pg_default_acl', 'pg_publication_namespace'))
OR EXISTS (SELECT 1 FROM pg_catalog.pg_description
WHERE classoid = 'pg_catalog.pg_namespace'::pg_catalog.regclass AND objoid = n.oid)
OR EXISTS (SELECT 1 FROM pg_catalog.pg_seclabel
WHERE classoid = 'pg_catalog.pg_namespace'::pg_catalog.regclass AND objoid = n.oid))"""
"""What is in a schema of PostgreSQL and no table: functions, types, collations, statistics; and what is said of it."""
