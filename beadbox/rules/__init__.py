"""The rules of every game: pure Python on the standard library alone, the only place that decides legality."""
