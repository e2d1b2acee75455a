"""The configuration: one YAML file, every key also as an environment variable, unknown keys refused."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    WrapValidator,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from monitor import environment, strict_yaml
from monitor.commit_token import commit_token, is_loopback
from monitor.durations import in_words
from monitor.events import AHEAD_SECONDS, MAX_ID_LENGTH, MAX_RANKED
from monitor.fields import Address, Count, File, NotNegative, Positive, Servers, Size, Topics, Truth, unique
from monitor.fields import start as one_start
from monitor.metrics import ALIASES, METRICS, Measure, parse
from monitor.mistakes import Mistake
from monitor.stream.records import Role
from monitor.visible import one_line, short, visible

RESERVED_LABELS = frozenset(
    (
        "delay fate hash instance job k le limit maturity metric partition position quantile reason "
        "task topic type version window"
    ).split()
)

MIN_MEMORY = 64 << 20
"""Below this an impression with 1,000 results might be too large."""
MAX_LABEL_VALUES = 200
"""Values that the list of a label can have: each takes memory and series."""
ALWAYS = ("results empty latency outcome_success dwell_seconds click_depth scroll_depth label_delay").split()
"""Metrics that are exported whether configured or not."""

SHAPES = {
    "tuple_type": "a list",
    "dict_type": "a mapping of keys",
    "model_type": "a mapping of keys",
    "model_attributes_type": "a mapping of keys",
    "float_type": "a number",
    "float_parsing": "a number",
    "int_type": "a number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "bool_parsing": "true or false",
    "string_too_short": "some text",
}
"""What YAML calls the types that pydantic names in Python's words."""


class ConfigError(Mistake):
    """The configuration cannot be used; the message has one line for each problem."""


def _label_name(name: str) -> str:
    if not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", name) or name.startswith("__"):
        raise ValueError(f'label name "{name}" must match [a-zA-Z_][a-zA-Z0-9_]* and not begin with "__"')
    if name in RESERVED_LABELS:
        raise ValueError(f'label name "{name}" is used by Prometheus or by the metric families; rename it')
    return name


LabelName = Annotated[str, AfterValidator(_label_name)]


LabelValues = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=MAX_ID_LENGTH)], ...],
    Field(min_length=1, max_length=MAX_LABEL_VALUES),
    AfterValidator(unique),
]


class Section(BaseModel):
    """A part of the configuration."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TopicsConfig(Section):
    events: Topics = ()
    """One topic (or several alike) that carries every type of event."""
    impressions: Topics = ()
    """Impressions alone; needs `interactions` beside it, with equal partition counts."""
    interactions: Topics = ()
    """Clicks, dwell and outcomes."""
    judgments: Topics = ()
    """Judgments; every replica reads all partitions."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.events and (self.impressions or self.interactions):
            raise ValueError("give either events, or impressions and interactions, not both")
        if not self.events and not (self.impressions and self.interactions):
            raise ValueError("give events, or both impressions and interactions")
        unique(self.events + self.impressions + self.interactions + self.judgments)
        return self

    def roles(self) -> dict[str, Role]:
        """What each topic carries."""
        return {topic: role for role in Role for topic in getattr(self, role.value)}


class SecurityConfig(Section):
    tls: Truth = False
    """Encrypt with the system's certificate authorities; implied by `ca_file` and `certificate_file`."""
    ca_file: File | None = None
    """Certificate authority of the brokers (PEM)."""
    certificate_file: File | None = None
    """Client certificate (PEM)."""
    key_file: File | None = None
    """Key of the client certificate (PEM)."""
    key_password_file: File | None = None
    """File that holds the key's password."""
    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] | None = None
    """SASL mechanism."""
    username: str | None = None
    """SASL user."""
    password_file: File | None = None
    """File that holds the SASL password."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.certificate_file is None) != (self.key_file is None):
            raise ValueError("certificate_file and key_file go together")
        if (self.mechanism is None) != (self.username is None) or (self.mechanism is None) != (
            self.password_file is None
        ):
            raise ValueError("mechanism, username and password_file go together")
        return self

    @property
    def encrypted(self) -> bool:
        return self.tls or self.ca_file is not None or self.certificate_file is not None


class KafkaConfig(Section):
    bootstrap_servers: Servers = "localhost:9092"
    """Brokers as host:port, separated by commas."""
    group_id: Annotated[str, Field(min_length=1)] = "ranking-monitor"
    """Consumer group; replicas with the same one share the partitions."""
    group_instance_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,249}$")] | None = None
    """Static membership: a name that this replica keeps and no other has, as a pod of a StatefulSet does.
    After `kill -9` a replica with it has its partitions back at once; see docs/deploying.md."""
    topics: TopicsConfig = TopicsConfig(events=("search-events",))
    """Which topics carry what."""
    start: Annotated[Literal["latest", "earliest"] | AwareDatetime, WrapValidator(one_start)] = "latest"
    """Where to begin when the group has committed nothing: `latest`, `earliest`, or an RFC 3339 time."""
    isolation_level: Literal["read_committed", "read_uncommitted"] = "read_committed"
    """Whether to read the records of committed transactions only, or also those of open and aborted ones."""
    max_batch_bytes: Annotated[int, Field(ge=1 << 20, le=1 << 30)] = 16_777_216
    """Bytes that a compressed batch of records may expand to; a larger one is left out, and counted."""
    security: SecurityConfig = SecurityConfig()
    """TLS and SASL."""


class JudgmentsConfig(Section):
    maturities: Annotated[tuple[Positive, ...], Field(min_length=1), AfterValidator(unique)] = (60.0, 3600.0)
    """Ages in seconds at which an impression is judged, each a series of its own."""
    combine: Literal["mean", "median"] = "mean"
    """How the grades of several assessors become one."""
    unjudged: Literal["nonrelevant", "condensed"] = "nonrelevant"
    """Whether an unjudged document counts as grade 0, or is taken out of the ranking first."""


class LimitsConfig(Section):
    open: Count = 1_000_000
    """Impressions held at once; over it the oldest are decided early."""
    pending: Count = 1_000_000
    """Interactions held at once; over it the oldest are decided early."""
    judgments: Count = 5_000_000
    """Judgments held at once; over it the queries that were judged longest ago are forgotten."""
    memory: Annotated[Size, Field(ge=MIN_MEMORY)] = 512 << 20
    """Bytes, estimated, that impressions, interactions and judgments may take together, as a number or as
    `512MiB`; at least 64 MiB. The process takes about 200 MB beside it. An impression that alone would take
    more than a 1536th is rejected as `too_large`. Over it the kind that takes most gives way: its oldest
    are decided early, or forgotten."""

    @property
    def impression_bytes(self) -> int:
        """More than this no impression may take by itself, whatever else is held."""
        return self.memory // 1536


class LogConfig(Section):
    level: Literal["debug", "info", "warning", "error"] = "info"
    """At debug the scoring of every impression can be followed."""
    format: Literal["text", "json"] = "text"
    """Lines for people, or one JSON object a line."""


class MetricConfig(Section):
    metric: str
    """The metric, with its cut-off and parameters: `ndcg(gain=exponential)@10`."""
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")] | None = None
    """Name of the family, `vector_<name>_avg`; required where the metric has parameters."""

    @property
    def measure(self) -> Measure:
        return parse(self.metric)

    @property
    def family_name(self) -> str:
        return self.name or self.measure.metric.name

    @model_validator(mode="after")
    def _valid(self) -> Self:
        measure = self.measure
        if measure.k is not None and measure.k > MAX_RANKED:
            raise ValueError(
                f'"{self.metric}": k is at most {MAX_RANKED}, as many keys as an impression can have'
            )
        if measure.metric.name in ALWAYS:
            raise ValueError(f'"{self.metric}" is always exported as {measure.metric.family}; take it out')
        if self.name in ALWAYS or (self.name or "").startswith("window_"):
            raise ValueError(f'name "{self.name}" is taken by a family that is always exported; take another')
        if self.name in {*METRICS, *ALIASES} and ALIASES.get(self.name, self.name) != measure.metric.name:
            raise ValueError(f'name "{self.name}" is another metric than "{self.metric}"; take another')
        if measure.params and self.name is None:
            raise ValueError(
                f'"{self.metric}" has parameters and needs a name: {{metric: "{self.metric}", name: ...}}'
            )
        return self


def _metric(value: object) -> object:
    return {"metric": value} if isinstance(value, str) else value


DEFAULT_METRICS = (
    "ndcg@1 ndcg@3 ndcg@5 ndcg@10 mrr@10 recall@10 precision@10 success@10 ap@100 judged@10 "
    "ctr@1 ctr@3 ctr@5 ctr@10 click_mrr@10 abandonment satisfied"
).split()


class Config(BaseSettings):
    """Everything that can be set. The defaults make an empty file valid."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        env_prefix=environment.PREFIX,
        env_nested_delimiter="__",
    )

    listen: Address = "127.0.0.1:9109"
    """Address of the HTTP server as host:port; port 0 picks a free one."""
    kafka: KafkaConfig = KafkaConfig()
    """Where the records come from."""
    attribution_seconds: Positive = 300.0
    """How long after an impression a click, dwell or outcome still belongs to it."""
    lateness_seconds: NotNegative = 60.0
    """How far records may be out of order in event time and still get their exact fate."""
    ahead_seconds: NotNegative = AHEAD_SECONDS
    """How far an event's `ts` may be ahead of its record's timestamp before it is rejected as `future_ts`."""
    idle_seconds: Positive = 30.0
    """A partition read to its end that brings nothing for so long moves on with the clock."""
    windows: Annotated[tuple[Positive, ...], AfterValidator(unique)] = (60.0, 300.0, 3600.0)
    """Sizes of the tumbling windows in seconds."""
    windows_kept: Count = 120
    """How many closed windows of each size the API has."""
    labels: Annotated[tuple[LabelName, ...], AfterValidator(unique)] = ("variant",)
    """The only label names of impressions that are exported."""
    label_values: dict[LabelName, LabelValues] = {}
    """The values of a label that have series of their own, for each label that has such a list; any other is
    `other`. Without a list the first 50 values that come have them."""
    metrics: tuple[Annotated[MetricConfig, BeforeValidator(_metric)], ...] = tuple(
        MetricConfig(metric=name) for name in DEFAULT_METRICS
    )
    """What is computed; `ranking-monitor metrics` lists the choice."""
    judgments: JudgmentsConfig = JudgmentsConfig()
    """How judgments are used."""
    limits: LimitsConfig = LimitsConfig()
    """Bounds on memory."""
    commit: Literal["scrape", "interval"] = "scrape"
    """When counts are committed: `scrape`, once a scrape by Prometheus has shown them, so that each counts
    once; or `interval`, every `commit_seconds`, where nothing scrapes (at least once)."""
    commit_token: SecretStr = SecretStr("")
    """Only scrapes with this token count, as `Authorization: Bearer` or as the parameter `commit_token`;
    empty: all by Prometheus. Never printed."""
    commit_token_file: File | None = None
    """File that holds the token, instead of `commit_token`; read at the start."""
    commit_seconds: Positive = 30.0
    """Time between two commits; at least the scrape interval, so that what is committed was shown."""
    log: LogConfig = LogConfig()
    """Logging, to standard error."""

    _token: SecretStr = PrivateAttr(SecretStr(""))

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is pydantic's
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment wins over the file."""
        return environment.Environment(settings_cls), init_settings

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        self._refuse_shared_families()
        self._token = commit_token(self.commit_token, self.commit_token_file)
        for label in self.label_values:
            if label not in self.labels:
                raise ValueError(f'label_values: "{label}" is not among labels; add it there, or take it out')
        for label, values in (("window", self.windows), ("maturity", self.judgments.maturities)):
            if len({in_words(value) for value in values}) != len(values):
                raise ValueError(f"two values would share one {label} label: {', '.join(map(str, values))}")
        return self

    def _refuse_shared_families(self) -> None:
        """A family speaks of one metric, with one set of parameters, once for each k."""
        first: dict[str, MetricConfig] = {}
        seen: set[tuple[str, int | None]] = set()
        for entry in self.metrics:
            name, measure = entry.family_name, entry.measure
            other = first.setdefault(name, entry)
            alike = (other.measure.metric, other.measure.params) == (measure.metric, measure.params)
            if (name, measure.k) in seen or not alike:
                raise ValueError(
                    f'metrics: "{other.metric}" and "{entry.metric}" would share vector_{name}_avg'
                    f"{' and k' if (name, measure.k) in seen else ''}; give one of them another name"
                )
            seen.add((name, measure.k))

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.listen.rpartition(":")
        return host.strip("[]"), int(port)

    @property
    def token(self) -> str:
        """What a scrape has to carry to acknowledge; empty where every scrape by Prometheus does."""
        return self._token.get_secret_value()

    @property
    def warnings(self) -> list[str]:
        """What is valid and may cost something all the same, one line each."""
        if self.commit != "scrape" or self.token or is_loopback(self.address[0]):
            return []
        exposed = (
            f"listen: other machines can reach {self.listen}, and without a token anybody who sends"
            " Prometheus's header acknowledges scrapes: a restart then loses what Prometheus has not seen;"
            " set commit_token_file (docs/operating.md#strangers)"
        )
        return [exposed]

    @property
    def digest(self) -> str:
        """Changes when the configuration does, but for the token, which cannot be guessed from it."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:12]


def load(path: Path | None) -> Config:
    """The configuration from a YAML file (or none) and the environment."""
    return build(read_yaml(path), f"{path}: " if path else "")


def build(values: Mapping[str, Any], where: str = "") -> Config:
    """The configuration from values (and the environment); `where` they stand begins every message."""
    if wrong := list(environment.mistakes(Config)):
        raise ConfigError("\n".join(map(one_line, wrong)))
    try:
        return Config(**values)
    except ValidationError as error:
        raise ConfigError("\n".join(map(one_line, _blamed(error, where)))) from None


def _blamed(error: ValidationError, where: str) -> Iterable[str]:
    """The problems, each with the variable it came from, or else with the file."""
    sent = environment.Environment(Config)()
    for problem, line in zip(error.errors(), problems(error), strict=True):
        location = problem["loc"]
        if variable := environment.named(location, sent):
            yield variable + line.removeprefix(_key(location))
        else:
            others = environment.beneath(location)
            yield where + line + (f" (from the environment: {', '.join(others)})" if others else "")


def read_yaml(path: Path | None) -> dict[str, Any]:
    """The keys at the top of a YAML file; none, if there is no file."""
    if path is None:
        return {}
    try:
        with path.open("rb") as file:
            values = strict_yaml.parse(file.read(strict_yaml.MAX_BYTES + 1))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except strict_yaml.Refused as error:
        raise ConfigError(visible(f"{path}: {error}")) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(visible(f"{path}: not valid YAML: {strict_yaml.reason(error)}")) from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: must be a mapping of keys, not {type(values).__name__}")
    return {str(key): value for key, value in values.items()}


def problems(error: ValidationError, see: str = "docs/configuration.md") -> Iterable[str]:
    """One line for each problem: where, what, the offending value; `see` lists the known keys."""
    for problem in error.errors():
        where = _key(problem["loc"])
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            message = f"unknown key; see {see}"
        elif where == "commit_token":
            message = "must be text, in quotes if it looks like a number"
        elif problem["type"] in SHAPES:
            message = f'must be {SHAPES[problem["type"]]}, not "{short(str(problem["input"]))}"'
        elif not isinstance(problem["input"], dict | BaseModel) and problem["type"] != "value_error":
            message += f', not "{short(str(problem["input"]))}"'
        yield f"{where}: {message}" if where else message


def _key(location: environment.Location) -> str:
    return environment.in_brackets(location).removeprefix(".")


def start_time(start: Literal["latest", "earliest"] | datetime) -> float | None:
    """The starting time in seconds, where one was given."""
    return start.timestamp() if isinstance(start, datetime) else None
