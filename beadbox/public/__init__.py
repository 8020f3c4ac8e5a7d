"""The public names of the library, which ``beadbox`` itself exports. In these modules, positions and moves are text."""
