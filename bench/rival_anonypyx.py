"""anonypyx on a CSV file, run in an environment of its own: `python rival_anonypyx.py FILE ALGORITHM K`."""

import json
import sys
import time

import anonypyx
import pandas as pd

frame = pd.read_csv(sys.argv[1])
quasi = [name for name in frame.columns if name != "income"]
for name in frame.columns:
    if sys.argv[2] != "Mondrian" and name != "income":  # it would number categories itself, which Pandas refuses now
        frame[name] = (frame[name] if name == "age" else pd.factorize(frame[name])[0]) * 1.0
    elif name != "age":
        frame[name] = frame[name].astype("category")
begin = time.process_time()
made = anonypyx.Anonymiser(
    frame, k=int(sys.argv[3]), algorithm=sys.argv[2], feature_columns=quasi, sensitive_column="income",
    generalisation_strategy="human-readable",
).anonymise()  # fmt: skip
print(json.dumps({"seconds": time.process_time() - begin, "rows": len(made)}))
