"""How fast it is, measured: ``make bench``. Nothing here is a test, so nothing here can fail on a slow machine."""
