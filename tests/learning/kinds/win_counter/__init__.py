"""A kind of machine as somebody else would add it: a Django app with rows, pages and files of its own."""
