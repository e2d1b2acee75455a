"""Label sets: the configured labels of an impression as one small number, with bounded cardinality."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

MAX_VALUES = 50
UNKNOWN = "unknown"
OTHER = "other"


class LabelSets:
    """Gives each combination of label values a number.

    A name has the values that are allowed for it, or else the first MAX_VALUES that come.
    """

    def __init__(self, names: tuple[str, ...], allowed: Mapping[str, Collection[str]] = {}) -> None:
        self.names = names
        self.values: list[tuple[str, ...]] = []
        self._known: dict[str, set[str]] = {name: set(allowed.get(name, ())) for name in names}
        self._limits = {name: 0 if name in allowed else MAX_VALUES for name in names}
        """How many values are taken as they come."""
        self._numbers: dict[tuple[str | None, ...], int] = {}
        """By the values as sent, and as exported."""
        if not names:
            self.numbers([None], Counter())

    def __len__(self) -> int:
        return len(self.values)

    def numbers(self, sent: Sequence[Mapping[str, str | None] | None], overflow: Counter[str]) -> list[int]:
        """The numbers of the label sets of impressions; values beyond the bound are counted in `overflow`."""
        by_name = [[labels.get(name) if labels else None for labels in sent] for name in self.names]
        values = list(zip(*by_name, strict=True)) if by_name else [()] * len(sent)
        known = map(self._numbers.get, values)
        return [self._new(v, overflow) if n is None else n for v, n in zip(values, known, strict=True)]

    def _new(self, sent: tuple[str | None, ...], overflow: Counter[str]) -> int:
        pairs = zip(self.names, sent, strict=True)
        values = tuple([self._bounded(name, value, overflow) for name, value in pairs])
        number = self._numbers.get(values)
        if number is None:
            number = self._numbers[values] = len(self.values)
            self.values.append(values)
        if OTHER not in values:
            # What overflows is not remembered: it is counted each time, and there is no end to it.
            self._numbers[sent] = number
        return number

    def _bounded(self, name: str, value: str | None, overflow: Counter[str]) -> str:
        known = self._known[name]
        if not value or value in known:
            return value or UNKNOWN
        if len(known) >= self._limits[name]:
            overflow[name] += 1
            return OTHER
        known.add(value)
        return value
