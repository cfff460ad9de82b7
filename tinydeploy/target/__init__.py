"""Processors, boards and tools: everything between generated C and a firmware image."""
