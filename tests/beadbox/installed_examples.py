"""Runs the examples in the docstrings of the installed library, and prints their number."""

import doctest
import importlib
import pkgutil
import sys
from contextlib import suppress
from importlib.util import find_spec

import beadbox

n_examples = 0
modules = [each.name for each in pkgutil.walk_packages(beadbox.__path__, "beadbox.")]
for module in ("beadbox", *modules):
    if module == "beadbox.__main__":  # a program
        continue
    if module == "beadbox.public.tournaments" and find_spec("networkx") is None:  # a Swiss round needs it
        continue
    with suppress(ModuleNotFoundError):  # modules of an extra that is not installed
        found = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
        n_examples += found.attempted
        if found.failed:
            sys.exit(f"{found.failed} examples of {module} failed")
sys.stdout.write(f"{n_examples}\n")
