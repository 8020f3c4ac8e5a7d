"""What the API reads and answers, a module a subject."""
