"""PostgreSQL by a pool of connections, as Django has it, for processes in which many threads share few."""
