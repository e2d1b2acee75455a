"""`python -m monitor.alerting deploy/prometheus` writes the default rules and the reference of the values."""

import sys
from pathlib import Path

from monitor.alerting.render import rules_file, values_file
from monitor.alerting.values import Values

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    (folder / "rules.yaml").write_text(rules_file(Values()), encoding="utf-8")
    (folder / "values.yaml").write_text(values_file(Values()), encoding="utf-8")
