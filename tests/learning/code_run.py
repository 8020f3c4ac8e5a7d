"""Runs programs, each with its own names, and prints what they found: called with a list of programs on the input."""

import contextlib
import io
import json
import sys

found = []
for program in json.load(sys.stdin):
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(program, names)
    found.append(names["found"])
json.dump(found, sys.stdout)
