"""The site: settings, addresses, servers. Wiring only, imported by nobody."""
