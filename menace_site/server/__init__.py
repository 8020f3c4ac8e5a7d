"""Middleware, the cache, the channel layer: what stands between the network and the site."""
