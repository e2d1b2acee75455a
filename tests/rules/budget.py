"""The rules of VectorNDCGBudgetBurn alone, which the default values leave out.

`python -m tests.rules.budget deploy/prometheus/tests/rules/budget.yaml` writes them.
"""

import sys
from pathlib import Path

import yaml

from monitor.alerting.render import groups
from monitor.alerting.values import Values

NOTE = """\
# The rules of VectorNDCGBudgetBurn with an objective of 0.9; the default values leave them out.
# Made by `python -m tests.rules.budget deploy/prometheus/tests/rules/budget.yaml`; do not edit.
"""


def budget_rules() -> str:
    """The rule file."""
    values = Values.model_validate({"VectorNDCGBudgetBurn": {"objective": 0.9}})
    group = groups(values)[0]
    chosen = [
        rule
        for rule in group["rules"]
        if rule.get("alert") == "VectorNDCGBudgetBurn" or rule.get("record", "").endswith(":low_ratio")
    ]
    return NOTE + yaml.safe_dump({"groups": [{**group, "rules": chosen}]}, sort_keys=False, width=1000)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(budget_rules(), encoding="utf-8")
