"""Machines as files: the parts that files of every kind of learner share, without Django or any one learner."""
