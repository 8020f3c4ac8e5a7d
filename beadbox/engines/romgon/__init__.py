"""The Romgon engine: evaluation, search and levels.

``answers`` is what others ask and ``kernels`` its compiled half; ``evaluation`` and ``minimax`` say readably what that
must equal.
"""
