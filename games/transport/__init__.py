"""Between processes and sockets: broadcasts, monitored dependencies, group commit, error responses."""
