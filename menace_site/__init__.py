"""The site: settings, URLs, servers. Wiring only: no other package imports it."""
