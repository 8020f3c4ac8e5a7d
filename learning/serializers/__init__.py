"""Serializers of the API's requests and responses, one module for each subject."""
