"""The error of a local run."""


class ServerError(Exception):
    """A server that cannot serve; the message is a sentence that says what to do."""
