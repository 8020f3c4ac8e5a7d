"""Parts that the whole API shares: error responses, OpenAPI schema, documentation."""
