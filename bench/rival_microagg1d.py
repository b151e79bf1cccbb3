"""microagg1d on normal numbers, run in an environment of its own: `python rival_microagg1d.py ROWS K`."""

import json
import sys
import time

import numpy as np
from microagg1d import univariate_microaggregation

numbers = np.random.default_rng(0).standard_normal(int(sys.argv[1]))
univariate_microaggregation(numbers[:1000], k=int(sys.argv[2]))
begin = time.process_time()
labels = univariate_microaggregation(numbers, k=int(sys.argv[2]))
taken = time.process_time() - begin
order = np.argsort(labels, kind="stable")
groups = np.split(numbers[order], np.flatnonzero(np.diff(labels[order])) + 1)
print(json.dumps({"seconds": taken, "error": float(sum(((one - one.mean()) ** 2).sum() for one in groups))}))
