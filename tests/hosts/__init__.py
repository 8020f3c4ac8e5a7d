"""The site on several machines: ``python -m tests.hosts`` builds what docker-compose.yml describes, and tries it."""
