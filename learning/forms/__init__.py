"""Forms of pages, one module for each subject."""
