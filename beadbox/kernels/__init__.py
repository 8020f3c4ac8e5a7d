"""Compiled loops over arrays: arrays and a generator in, arrays out. They know no game and no machine."""
