"""The error that ends a local run with a message."""


class ServerError(Exception):
    """A server cannot be used; the message tells the user what to do."""
