"""Communication of processes and sockets: broadcasts, dependency monitor, group commit, error responses."""
