"""Bulk training and exact strength: positions compiled to tables, the readable loop, and the choice between loops."""
