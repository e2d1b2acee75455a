"""The page: health in words, then the newest window of every configured metric."""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.resources import files

from monitor.config import Config
from monitor.durations import in_words
from monitor.metrics import Need
from monitor.stream.plan import Plan
from monitor.stream.windows import Window
from monitor.web.markup import Html, join, tag
from monitor.web.tables import Cell, Group, Row, busiest, make_groups
from monitor.web.view import Health, Status
from monitor.web.words import headline

STYLE = (files("monitor.web") / "page.css").read_text()
SCRIPT = (files("monitor.web") / "page.js").read_text()
ICON = (
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><path fill='%233b6fd8' "
    "d='M1 3h14v2.5H1zM1 7h9v2.5H1zM1 11h5v2.5H1z'/></svg>"
)
WIDE = 6
"""More label sets than this become rows: as columns they would not fit."""
ROOMY = 3
"""Up to so many columns have room for the bar beside the number."""
MOST = 100
"""Label sets that are shown; the API has them all."""
TITLES = {
    Need.JUDGMENTS: "Judged {delay} after the impression",
    Need.CLICKS: "Clicks, {delay} after the impression",
    Need.IMPRESSION: "Results as shown",
}


def content_security_policy() -> str:
    """Nothing from elsewhere, and of inline code only the page's own."""
    return (
        f"default-src 'none'; style-src '{_digest(STYLE)}'; script-src '{_digest(SCRIPT)}'; img-src data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def render_page(
    config: Config,
    plan: Plan,
    health: Health,
    status: Status,
    windows: Iterable[Window],
    label_sets: Sequence[tuple[str, ...]],
    size: float | None,
) -> str:
    """The whole document; `size` is the size of the windows to show, if there are any."""
    tone = "bad" if not health.healthy else "good" if health.ready else "wait"
    body = [
        tag(
            "header",
            tag("h1", "ranking-monitor"),
            tag("span", "no answer, trying again", id="stale", role="status"),
            tag(
                "nav",
                tag("a", "/metrics", href="/metrics"),
                tag("a", "API", href="/api/v1/windows" + (f"?window={in_words(size)}" if size else "")),
            ),
        ),
        tag(
            "main",
            _health(health, status, tone),
            _facts(status),
            _windows(config, plan, windows, label_sets, size),
        ),
        tag("footer", f"Version {status.version}. Times are event times, in UTC."),
    ]
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", "ranking-monitor"),
        tag("link", rel="icon", href=ICON),
        tag("style", Html(STYLE)),
        tag("noscript", tag("meta", http_equiv="refresh", content="10")),
    ]
    document = tag("html", tag("head", head), tag("body", body, tag("script", Html(SCRIPT))), lang="en")
    return f"<!doctype html>\n{document}\n"


def _health(health: Health, status: Status, tone: str) -> Html:
    rest = health.lines if tone == "good" else health.lines[1:]
    more = tag("ul", [tag("li", line) for line in rest]) if rest else None
    return tag("div", tag("div", tag("span", headline(health, status)), more), class_=f"health {tone}")


def _facts(status: Status) -> Html:
    facts = {
        "records read": status.records,
        "rejected": status.rejected,
        "records behind": status.lag,
        "open impressions": status.open_impressions,
        "pending interactions": status.pending_interactions,
        "judgments": status.judgments,
    }
    return tag("dl", [tag("div", tag("dt", name), tag("dd", f"{n:,}")) for name, n in facts.items()])


def _windows(
    config: Config,
    plan: Plan,
    windows: Iterable[Window],
    label_sets: Sequence[tuple[str, ...]],
    size: float | None,
) -> Html:
    if size is None:
        return tag("p", "No windows are configured.", class_="none")
    sizes = [
        tag(
            "a",
            in_words(each),
            href=f"?window={in_words(each)}",
            aria_current="true" if each == size else None,
        )
        for each in config.windows
    ]
    groups = make_groups(plan, windows, size, len(label_sets))
    shown = sorted(busiest(groups, len(label_sets), MOST), key=lambda number: label_sets[number])
    names = {number: _label_set(config.labels, label_sets[number]) for number in shown}
    legend = tag("span", "mean, ± its 95 % confidence, n impressions", class_="legend")
    note = f"{MOST} of {len(label_sets):,} label sets, those with the most samples; the API has all."
    return join(
        [
            tag("nav", tag("span", "Windows of"), sizes, legend, class_="sizes", aria_label="window size"),
            tag("p", note, class_="note") if len(label_sets) > MOST else None,
            [_group(group, names) for group in groups],
        ]
    )


def _group(group: Group, names: dict[int, str]) -> Html:
    title = tag("h2", TITLES[group.need].format(delay=group.delay))
    if group.window is None:
        metrics = ", ".join(row.name for row in group.rows)
        return tag(
            "section", tag("header", title), tag("p", f"no window closed yet: {metrics}", class_="none")
        )
    when = tag("span", f"window {_clock(group.window.start)} – {_clock(group.window.end)}", class_="when")
    partial = tag("span", "partial", class_="partial", title="Reading began after the window did.")
    heading = tag("header", title, when, partial if group.window.partial else None)
    draw = _by_metric if len(names) <= WIDE else _by_label_set
    return tag("section", heading, tag("div", draw(group.rows, names), class_="scroll"))


def _by_metric(rows: list[Row], names: dict[int, str]) -> Html:
    heads = [tag("th", _label(name), scope="col") for name in names.values()]
    body = [tag("tr", _metric(row, "row"), [_cell(row, row.cells.get(n)) for n in names]) for row in rows]
    head = tag("thead", tag("tr", tag("th", "metric", scope="col"), heads))
    return tag("table", head, tag("tbody", body), class_="dense" if len(names) > ROOMY else None)


def _by_label_set(rows: list[Row], names: dict[int, str]) -> Html:
    heads = [_metric(row, "col") for row in rows]
    body = [
        tag("tr", tag("th", _label(name), scope="row"), [_cell(row, row.cells.get(n)) for row in rows])
        for n, name in names.items()
    ]
    head = tag("thead", tag("tr", tag("th", "labels", scope="col"), heads))
    return tag("table", head, tag("tbody", body), class_="dense")


def _metric(row: Row, scope: str) -> Html:
    return tag("th", row.name, scope=scope, title=row.column.measure.metric.summary)


def _label(text: str) -> Html:
    """A label's value can be long: the rest of it is in the title."""
    return tag("span", text, class_="label", title=text)


def _cell(row: Row, cell: Cell | None) -> Html:
    if cell is None:
        return tag("td", "–", class_="empty", title="no samples in this window")
    margin = f"±{cell.margin:.3f}" if cell.margin is not None else ""
    return tag(
        "td",
        tag("b", f"{cell.mean:.3f}"),
        " ",
        _bar(cell.mean) if row.is_share else None,
        tag("small", tag("span", margin), f" n={cell.samples:,}"),
    )


def _bar(share: float) -> Html:
    """Sizes as attributes: the policy allows no style of an element's own."""
    whole = {"height": "4", "y": "0"}
    return tag(
        "svg",
        tag("rect", class_="track", width="100", **whole),
        tag("rect", class_="value", width=f"{100 * share:.1f}", **whole),
        viewBox="0 0 100 4",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


def _label_set(names: tuple[str, ...], values: tuple[str, ...]) -> str:
    if not names:
        return "all traffic"
    return ", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))


def _clock(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.strftime("%H:%M:%S" if seconds % 60 else "%H:%M")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
