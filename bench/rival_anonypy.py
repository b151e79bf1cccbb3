"""anonypy's Mondrian on a CSV file, run in an environment of its own: `python rival_anonypy.py FILE K`."""

import json
import sys
import time

import pandas as pd
from anonypy.anonypy import Preserver

frame = pd.read_csv(sys.argv[1])
quasi = [name for name in frame.columns if name != "income"]
for name in frame.columns:
    if name != "age":
        frame[name] = frame[name].astype("category")
begin = time.perf_counter()
rows = Preserver(frame, quasi, "income").anonymize_k_anonymity(k=int(sys.argv[2]))
taken = time.perf_counter() - begin
print(json.dumps({"seconds": taken, "rows": sum(row["count"] for row in rows)}))
