"""Pure Python: everything about learning that knows no database, no web and no worker."""
