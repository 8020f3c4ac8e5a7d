"""What workers do: the protocol of background jobs, and a road for each kind of them."""
