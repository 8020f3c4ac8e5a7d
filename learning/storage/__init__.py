"""Between rows and arrays, and the locks that whoever writes holds."""
