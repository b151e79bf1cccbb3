"""What pyCANON says of tables, run in a process of its own.

`python rival_pycanon.py values` reads a list of tables as JSON (each a mapping from column to cells, the sensitive one
last) and writes what it finds of each. `python rival_pycanon.py time FILE` works out k, alpha, all l and t of a CSV
file whose last column is sensitive, and writes how long that takes.
"""

import json
import sys
import time

import pandas as pd
from pycanon import anonymity


def found(frame):
    quasi, sensitive = list(frame.columns[:-1]), [frame.columns[-1]]
    return {
        "k": anonymity.k_anonymity(frame, quasi),
        "alpha": anonymity.alpha_k_anonymity(frame, quasi, sensitive)[0],
        "l": anonymity.l_diversity(frame, quasi, sensitive),
        "entropy_l": anonymity.entropy_l_diversity(frame, quasi, sensitive),
        "c": float(anonymity.recursive_c_l_diversity(frame, quasi, sensitive)[0]),
        "t": anonymity.t_closeness(frame, quasi, sensitive),
    }


def more(frame):
    quasi, sensitive = list(frame.columns[:-1]), [frame.columns[-1]]
    return {
        "delta": float(anonymity.delta_disclosure(frame, quasi, sensitive)),
        "beta": float(anonymity.basic_beta_likeness(frame, quasi, sensitive)),
        "beta(enhanced)": float(anonymity.enhanced_beta_likeness(frame, quasi, sensitive)),
    }


if sys.argv[1] == "values":
    tables = [pd.DataFrame(columns) for columns in json.load(sys.stdin)]
    print(json.dumps([{**found(table), **more(table)} for table in tables]))
else:
    table = pd.read_csv(sys.argv[2])
    begin = time.perf_counter()
    values = found(table)
    print(json.dumps({"seconds": time.perf_counter() - begin, **values}))
