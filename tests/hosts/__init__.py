"""The site on several hosts: ``python -m tests.hosts`` builds the services of docker-compose.yml and tests them."""
