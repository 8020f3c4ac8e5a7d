"""The error that ends a local run with a message."""


class ServerError(Exception):
    """A local run cannot start or continue; the message tells the user what to do."""
