"""Machines as files: what the files of every kind of learner share. Nothing here knows Django or a learner."""
