"""Label sets: the configured labels of an impression as one small number, with bounded cardinality."""

from collections.abc import Mapping

MAX_VALUES = 50
UNKNOWN = "unknown"
OTHER = "other"


class LabelSets:
    """Gives each combination of label values a number, and at most MAX_VALUES values to each name."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.values: list[tuple[str, ...]] = []
        self.overflow = dict.fromkeys(names, 0)
        self._known: dict[str, set[str]] = {name: set() for name in names}
        self._numbers: dict[tuple[str, ...], int] = {}
        if not names:
            self.number(None)

    def __len__(self) -> int:
        return len(self.values)

    def number(self, labels: Mapping[str, str] | None) -> int:
        """The number of an impression's label set."""
        labels = labels or {}
        values = tuple([self._value(name, labels.get(name)) for name in self.names])
        number = self._numbers.get(values)
        if number is None:
            number = self._numbers[values] = len(self.values)
            self.values.append(values)
        return number

    def _value(self, name: str, value: str | None) -> str:
        if not value:
            return UNKNOWN
        known = self._known[name]
        if value not in known:
            if len(known) >= MAX_VALUES:
                self.overflow[name] += 1
                return OTHER
            known.add(value)
        return value
