"""Sessions of Spark: what must be there before work starts, and what a DataFrame must be."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from shoal.errors import ParameterError, Problem, Problems, SchemaError, SourceError
from shoal.machine.extras import load
from shoal.spark.jobs import EXTRA, WHAT, quiet
from shoal.table.frames import check_names

LEAST_SPARK = 4
LEAST_JAVA = 17
OWN_SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
"""Of sessions that are started here: what Spark logs of a file that it cannot read holds cells.

The Java of the driver has little to do, and is not worth compiling twice: 2,000,000 rows took 78 instead of 80 seconds,
1,000 rows 20 instead of 23. Options of the user come behind these.
"""
_NESTED = ("array", "map", "struct", "variant", "interval", "calendarinterval", "udt", "geography", "geometry")
"""Types whose cells are no single values."""


def check_frame(df: Any) -> Any:
    """The session of a DataFrame; refuses what is none, and a Spark that does not fit."""
    sql = load("pyspark.sql", extra=EXTRA, what=WHAT)
    if not isinstance(df, sql.DataFrame):
        what = f"needs a DataFrame of Spark, got {type(df).__name__}"
        raise ParameterError(Problem("df=", what, "use shoal.anonymize for frames of polars, pandas and pyarrow"))
    check_spark(str(df.sparkSession.version))
    if df.isStreaming:
        raise ParameterError(Problem("df=", "is a stream, which has no end", "publish what was written of it"))
    check_names(list(df.columns))
    return df.sparkSession


def check_spark(version: str) -> None:
    """Refuse a Spark that is too old."""
    if int(version.split(".")[0]) < LEAST_SPARK:
        what = f"this is Spark {version}, and {LEAST_SPARK}.0 or later is needed"
        raise SourceError(Problem("spark", what, f"use a cluster with Spark {LEAST_SPARK}"))


def check_java() -> None:
    """Refuse to start Spark without a Java that it runs on."""
    found = java_version()
    if found is None or found < LEAST_JAVA:
        what = "Java was not found" if found is None else f"this is Java {found}"
        fix = f"install a JDK {LEAST_JAVA} (make system does), and set JAVA_HOME if there are several"
        raise SourceError(Problem("spark", f"{what}, and Spark needs Java {LEAST_JAVA} or later", fix))


def java_version() -> int | None:
    """The number of the Java that Spark would start; None for none."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if program is None:
        return None
    try:
        told = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=True).stderr  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(?:1\.)?([0-9]+)', told)
    return int(found[1]) if found else None


def open_session(master: str | None, settings: dict[str, str] | None = None) -> tuple[Any, bool]:
    """A session, and whether it is a new one: that of this process if there is one, else with the given master."""
    sql = load("pyspark.sql", extra=EXTRA, what=WHAT)
    pyspark = load("pyspark", extra=EXTRA, what=WHAT)
    check_spark(str(pyspark.__version__))
    known = sql.SparkSession.getActiveSession()
    if known is not None:
        _check_master(known, master)
        return known, False
    check_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.appName("shoal")
    if master is not None:
        builder = builder.master(master)
    for name, value in (OWN_SETTINGS | (settings or {})).items():
        builder = builder.config(name, value)
    try:
        with quiet():
            return builder.getOrCreate(), True
    except Exception as error:
        what = f"no session could be started ({type(error).__name__})"
    fix = "check --master, and that the cluster runs the same version of Spark as the driver"
    raise SourceError(Problem("spark", what, fix))


def _check_master(spark: Any, master: str | None) -> None:
    """Refuse a master that is not that of the session which is there."""
    own = spark.conf.get("spark.master")
    if master is not None and own != master:
        what = "names another cluster than that of the session of this process"
        raise ParameterError(Problem("master=", what, "leave it out, or stop the session first"))


def plain_columns(df: Any, names: Iterable[str], followed: Iterable[str] = ()) -> Any:
    """Some columns; refuses those among `followed` that hold no single values, and hides what others of them hold.

    They are called by their place, 0 and on: Spark reads points and backticks in a name, and takes `Age` for `age`.
    """
    problems, chosen, needed = Problems(), [], set(followed)
    numbered = df.toDF(*map(str, range(len(df.columns))))
    fields = {one.name: (str(place), one.dataType) for place, one in enumerate(df.schema.fields)}
    for place, name in enumerate(names):
        number, dtype = fields[name]
        column, kind = numbered[number], dtype.simpleString().lower()
        if kind.startswith(_NESTED):
            column = column.isNull().cast("string")
            if name in needed:
                fix = "take single values out of it, or give it the role drop"
                problems.add(f"column {name!r}", f"holds no single values, but {kind.split('<')[0]}s", fix)
        chosen.append(column.alias(str(place)))
    problems.raise_if_any(SchemaError)
    return numbered.select(*chosen)
