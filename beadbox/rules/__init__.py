"""The rules of every game, in plain Python on the standard library. No other package decides legality."""
