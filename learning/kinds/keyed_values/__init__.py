"""Code shared by the kinds that keep a value for each key: rows, ledger, decisions in live matches."""
