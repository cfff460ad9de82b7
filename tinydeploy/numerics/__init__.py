"""The arithmetic of the generated C in NumPy: requantisation and fixed-point functions, bit for bit."""
