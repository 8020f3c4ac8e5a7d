"""The public names of the library, which ``beadbox`` itself exports. Positions and moves are text here."""
