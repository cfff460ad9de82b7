"""``python -m tinydeploy``."""

from tinydeploy.cli import main

main()
