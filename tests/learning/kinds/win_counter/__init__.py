"""A kind of machine as a contributor would add it: a Django app with its own rows, pages and file format."""
