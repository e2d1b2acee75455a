"""`python -m monitor.cli` is `ranking-monitor`."""

from monitor.cli import main

main()
