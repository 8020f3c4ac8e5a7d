"""Three men's morris: three stones each on nine points, placed and then moved."""
