"""Background workers: the protocol of jobs, a module for each kind of job, and maintenance."""
