"""What docker-compose.yml says, and hosts that are network namespaces on one machine."""
