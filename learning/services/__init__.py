"""Use cases that write, one module for each subject; each is one transaction unless its docstring says otherwise."""
