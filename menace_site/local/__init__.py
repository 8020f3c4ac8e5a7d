"""The site on one machine: private servers, child processes, addresses."""
