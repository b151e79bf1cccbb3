"""A standalone cluster of Spark on the loopback interface, for tests: a master and two workers, each a process."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

SOURCE, TESTS = Path(__file__).parents[2] / "src", Path(__file__).parents[1]
ONE_CORE = {f"spark.executorEnv.{name}": "1" for name in ("POLARS_MAX_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS")}
LEAN = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss1m"
"""Java that starts quickly: what it runs is little."""
NEW = "classes.jsa"
ADDRESSES = {"one": "127.0.0.1", "two": "127.0.0.2" if sys.platform == "linux" else "127.0.0.1"}
"""Two machines to Spark, which does a task a second time only on another one."""
SEVERAL_HOSTS = len(set(ADDRESSES.values())) > 1
JDBC = Path("/usr/share/java/postgresql.jar")
"""How Spark speaks to PostgreSQL."""
SPECULATION = {
    "spark.speculation": "true", "spark.speculation.minTaskRuntime": "6s", "spark.speculation.quantile": "0.1",
    "spark.speculation.multiplier": "1.01", "spark.speculation.interval": "200ms",
}  # fmt: skip
"""A task that takes far longer than others is done a second time, on another machine."""


def _archive(home: Path) -> Path:
    """Where the classes of Spark are kept between runs, as Java loads them: beside the machine code of kernels."""
    from shoal.spark.session import java_version

    (core,) = (home / "jars").glob("spark-core_*.jar")
    number = zlib.crc32(str(home).encode())  # they are those of one place
    return Path(os.environ["NUMBA_CACHE_DIR"]) / f"{core.stem}-java-{java_version()}-{number:08x}.jsa"


def _lean(home: Path, folder: Path, *, driver: bool = False) -> str:
    """How Java is started. Where there is no archive, the driver makes one at its end, of what all have loaded."""
    if (archive := _archive(home)).is_file():
        return f"{LEAN} -XX:SharedArchiveFile={archive} -Xlog:cds=off -Xlog:cds+dynamic=off"
    if os.environ.get("SHOAL_REQUIRE_ALL") == "1":  # that takes as long as two later runs save
        return LEAN
    if driver:
        return f"{LEAN} -XX:ArchiveClassesAtExit={folder / NEW} -Xlog:cds=off -Xlog:cds+dynamic=off"
    return f"{LEAN} -Xlog:class+load:file={folder}/loaded-%p.txt"


def _load_all(jvm: object, folder: Path) -> None:
    """Let the driver load what all others have loaded."""
    loaded = "".join(path.read_text(errors="replace") for path in folder.glob("loaded-*.txt"))
    loader = jvm.java.lang.ClassLoader.getSystemClassLoader()
    for name in set(re.findall(r"\] ([\w.$]+) source: (?:file|jrt):", loaded)):
        with suppress(Exception):  # what is made on the way has a name, but no file
            loader.loadClass(name)


@dataclass
class Cluster:
    """The processes of a cluster."""

    home: Path
    folder: Path
    master: str = ""
    processes: dict[str, subprocess.Popen] = field(default_factory=dict)

    def start(self, name: str, *arguments: str) -> subprocess.Popen:
        """Start a process of Spark, the leader of a group of its own."""
        environment = {
            **os.environ, "SPARK_HOME": str(self.home), "SPARK_LOCAL_IP": ADDRESSES.get(name, "127.0.0.1"),
            "SPARK_DAEMON_JAVA_OPTS": f"{_lean(self.home, self.folder)} -Dspark.master.rest.enabled=false",
            "SPARK_DAEMON_MEMORY": "256m", "SPARK_LOCAL_DIRS": str(self.folder / name),
            "PYSPARK_PYTHON": sys.executable, "SPARK_WORKER_DIR": str(self.folder / f"{name}-work"),
        }  # fmt: skip
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [str(self.home / "bin" / "spark-class"), *arguments], env=environment, stdout=log, stderr=log,
                cwd=self.folder, start_new_session=True,
            )  # fmt: skip
        return self.processes[name]

    def start_worker(self, name: str) -> None:
        """Start a worker with one core."""
        self.start(
            name, "org.apache.spark.deploy.worker.Worker", "--host", ADDRESSES[name], "--cores", "1", "--memory", "1g",
            "--webui-port", "0", self.master,
        )  # fmt: skip

    def stop(self, name: str) -> None:
        """End a process and all that it started, at once."""
        process = self.processes.pop(name)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def cluster() -> Iterator[Cluster]:
    """Start a cluster; skips where Java or pyspark is missing."""
    home = _home()
    folder = Path(tempfile.mkdtemp(prefix="spark", dir="/tmp"))
    found = Cluster(home, folder)
    try:
        page = _start_master(found)
        found.start_worker("one")
        found.start_worker("two")
        _wait(lambda: urllib.request.urlopen(page, timeout=5).read().count(b'"state" : "ALIVE"') >= 2, found)
        yield found
    finally:
        for name in list(found.processes):
            found.stop(name)
        shutil.rmtree(folder, ignore_errors=True)


def _home() -> Path:
    try:
        import pyspark
    except ImportError:
        _missing("pyspark is not installed: run `make test-setup`")
    from shoal.spark.session import LEAST_JAVA, java_version

    if (java_version() or 0) < LEAST_JAVA:
        _missing(f"Java {LEAST_JAVA} is not installed: run `make system`")
    return Path(pyspark.__file__).parent


def _start_master(found: Cluster) -> str:
    port, page = _free_port(), _free_port()
    found.master = f"spark://127.0.0.1:{port}"
    found.start(
        "master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port),
        "--webui-port", str(page),
    )  # fmt: skip
    return f"http://127.0.0.1:{page}/json/"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(ready: object, found: Cluster) -> None:
    for _ in range(1200):
        with suppress(OSError):
            if ready():
                return
        if any(process.poll() is not None for process in found.processes.values()):
            break
        time.sleep(0.1)
    pytest.fail("".join(path.read_text() for path in found.folder.glob("*.log")) or "Spark does not start")


def jdbc() -> None:
    """Skip a test where Spark cannot speak to PostgreSQL."""
    if not JDBC.is_file():
        _missing(f"{JDBC} is not there: run `make system`")


def _missing(why: str) -> None:
    if os.environ.get("SHOAL_REQUIRE_ALL") == "1":
        pytest.fail(why)
    pytest.skip(why)


@contextmanager
def session(found: Cluster) -> Iterator[object]:
    """A session on a cluster, whose driver is this process."""
    from shoal.spark.session import open_session

    before = dict(os.environ)
    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(found.home)}
    path = os.pathsep.join([str(SOURCE), str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    settings = {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
        "spark.driver.extraJavaOptions": _lean(found.home, found.folder, driver=True),
        "spark.executor.extraJavaOptions": _lean(found.home, found.folder), "spark.executor.memory": "600m",
        "spark.executor.cores": "1", "spark.driver.memory": "600m", "spark.executorEnv.PYTHONPATH": path,
        "spark.sql.shuffle.partitions": "3",
        "spark.executorEnv.NUMBA_CACHE_DIR": os.environ["NUMBA_CACHE_DIR"], "spark.network.timeout": "60s",
        "spark.executorEnv.SHOAL_QUIET": "1", "spark.log.level": "OFF", "spark.driver.host": "127.0.0.1",
        "spark.sql.warehouse.dir": str(found.folder / "warehouse"), "spark.local.dir": str(found.folder / "driver"),
        "spark.executor.heartbeatInterval": "5s", "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN", "spark.eventLog.enabled": "false",
        "spark.executor.metrics.pollingInterval": "0", "spark.metrics.staticSources.enabled": "false",
        "spark.python.daemon.module": "support.spark_daemon", "spark.executorEnv.SHOAL_TESTS_LOAD": "1", **ONE_CORE,
        "spark.task.maxFailures": "2", "spark.locality.wait": "0", "spark.sql.adaptive.enabled": "false",
        "spark.jars": str(JDBC) if JDBC.is_file() else "", **SPECULATION,
    }  # fmt: skip
    try:
        spark, _ = open_session(found.master, settings)
        try:
            yield spark
        finally:
            gateway = spark.sparkContext._gateway
            spark.stop()
            _end(gateway, found)
    finally:
        os.environ.clear()
        os.environ.update(before)


def _end(gateway: object, found: Cluster) -> None:
    """End the Java of the driver, which would outlive its session."""
    from pyspark import SparkContext

    _load_all(gateway.jvm, found.folder)
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(300)
    SparkContext._gateway = SparkContext._jvm = None
    if (made := found.folder / NEW).is_file():
        waiting = _archive(found.home).with_suffix(f".{os.getpid()}")
        shutil.copyfile(made, waiting)
        waiting.replace(_archive(found.home))
