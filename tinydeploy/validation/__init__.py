"""Running generated C where it will run, and comparing it with what it should do."""
