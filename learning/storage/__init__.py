"""Storage between rows and arrays, and the locks under which callers write."""
