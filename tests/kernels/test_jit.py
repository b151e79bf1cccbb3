"""The disk cache of machine code never gives one signature the code of another."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import shoal.kernels
from shoal.kernels.jit import OwnNameCacheFile


def test_every_kernel_uses_the_safe_cache():
    names = [module.name for module in pkgutil.walk_packages(shoal.kernels.__path__, "shoal.kernels.")]
    modules = [import_module(name) for name in names]
    kernels = [value for module in modules for value in vars(module).values() if hasattr(value, "py_func")]
    assert len(kernels) > 20
    for kernel in kernels:
        assert isinstance(kernel._cache._cache_file, OwnNameCacheFile)


def test_entries_written_at_the_same_time_keep_their_own_code(tmp_path):
    """Two writers that both began with an empty index; in the worst order, one entry is lost, none is swapped."""
    one, two = (OwnNameCacheFile(str(tmp_path), "kernel-1.py311", "stamp") for _ in range(2))
    one._load_index = two._load_index = dict
    one.save("signature of one", "code of one")
    two.save("signature of two", "code of two")
    reader = OwnNameCacheFile(str(tmp_path), "kernel-1.py311", "stamp")
    assert reader.load("signature of two") == "code of two"
    assert reader.load("signature of one") is None
    reader.save("signature of one", "code of one")
    assert (reader.load("signature of one"), reader.load("signature of two")) == ("code of one", "code of two")


def test_entries_expire_with_the_source(tmp_path):
    old = OwnNameCacheFile(str(tmp_path), "kernel-1.py311", "old source")
    old.save("signature", "old code")
    new = OwnNameCacheFile(str(tmp_path), "kernel-1.py311", "new source")
    assert new.load("signature") is None
    new.save("signature", "new code")
    assert new.load("signature") == "new code"
    assert old.load("signature") is None
    assert len(list(tmp_path.glob("*.nbc"))) == 1


PROGRAM = """
import sys, numpy as np
from shoal.kernels.cluster.mondrian import kth_smallest
dtype = sys.argv[1]
values = np.arange(1000, dtype=dtype)[::-1].copy()
print(kth_smallest(values, 10))
"""


def test_processes_that_compile_at_the_same_time_get_the_right_code(tmp_path):
    """Four processes, four signatures, one empty cache; then each again from the cache."""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "PATH": "", "PYTHONPATH": str(Path(__file__).parents[2] / "src")}

    def run(dtype: str) -> str:
        line = [sys.executable, "-c", PROGRAM, dtype]
        return subprocess.run(line, env=environment, capture_output=True, text=True, check=True).stdout.strip()

    dtypes = ["float64", "float32", "int64", "int32"]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(2):
            assert [float(text) for text in pool.map(run, dtypes)] == [10.0] * 4
