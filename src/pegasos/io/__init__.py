"""Files: models in and out, in our own format and in those of others."""
