"""What alerts say: values that Prometheus fills in when it fires them."""

from monitor.alerting.promql import Selector

NUMBER, ONE_DIGIT = 'printf "%.3f"', 'printf "%.1f"'
PERCENTAGE, TIME = "humanizePercentage", "humanizeTimestamp"
ROUND_DURATION = 'humanizeDuration | reReplaceAll " 0[hms]" ""'
"""As `20m` or `1h 30m`, not `20m 0s`."""


def look_up(query: Selector | str, form: str, of: str | None = None) -> str:
    """The value of a query; one with `%[1]q` in it asks for the alert's own value of the label `of`.

    >>> from monitor.alerting.promql import select
    >>> look_up(select("a:b:c", job="x"), PERCENTAGE)
    '{{ with query `a:b:c{job="x"}` }}{{ . | first | value | humanizePercentage }}{{ else }}unknown{{ end }}'
    """
    found = f"{{{{ . | first | value | {form} }}}}"
    return f"{{{{ with {asked(query, of)} }}}}{found}{{{{ else }}}}unknown{{{{ end }}}}"


def asked(query: Selector | str, of: str | None) -> str:
    """A query in a template.

    >>> asked('up{variant=%[1]q}', "variant")
    'printf `up{variant=%[1]q}` $labels.variant | query'
    """
    return f"printf `{query}` $labels.{of} | query" if of else f"query `{query}`"


def own(series: Selector, of: str | None) -> Selector:
    """That of the alert's own value of the label; without one, that of the whole job."""
    return series.where(f"{of}=%[1]q") if of else series
