"""The Romgon engine: evaluation, search and levels.

``answers`` is the interface, and ``boards`` and ``search`` are its compiled kernels. ``evaluation`` and ``minimax`` are
readable versions of the same, which the kernels must equal.
"""
