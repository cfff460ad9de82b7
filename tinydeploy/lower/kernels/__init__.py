"""A module here is a kernel: it names its `OPERATOR` and makes `offers` for nodes of it. Found by looking."""
