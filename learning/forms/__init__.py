"""Forms of pages, a module a subject."""
