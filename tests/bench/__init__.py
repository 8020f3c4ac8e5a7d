"""Benchmarks, run by ``make bench``. They are not tests: a slow machine cannot make them fail."""
