"""Use-cases that write, each one transaction, a module a subject."""
