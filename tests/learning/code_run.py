"""Run the programs of a JSON list on the input, each with its own names, and print their variables ``found``."""

import contextlib
import io
import json
import sys

found = []
for program in json.load(sys.stdin):
    namespace: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(program, namespace)
    found.append(namespace["found"])
json.dump(found, sys.stdout)
