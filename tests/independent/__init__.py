"""Programs that share no code with what they check: the figures of documents, found another way."""
