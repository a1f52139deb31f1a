"""Files: data read, models written and read."""
