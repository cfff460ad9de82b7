"""tinydeploy: a trained network becomes verified C99 firmware for a Cortex-M microcontroller."""

__version__ = "0.1.0"
