"""Who meets whom in a tournament, and what came of it. Pure: numbers of entries in, tables out."""
