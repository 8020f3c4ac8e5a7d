"""What kinds share whose memory is a number for each key: rows, ledger, decisions of live matches."""
