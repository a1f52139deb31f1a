"""Being here puts tests/ on the path, so that `helpers` can be imported from every folder of tests."""
