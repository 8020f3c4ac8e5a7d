"""The API as a whole: its refusals, its schema, its documents."""
