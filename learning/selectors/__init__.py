"""Database reads with a fixed number of queries, one module for each subject."""
