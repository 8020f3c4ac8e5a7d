"""Code shared by kinds with a number for each key: rows, ledger, decisions in live matches."""
