"""Middleware, cache, channel layer and database pool: the layer between the network and the site."""
