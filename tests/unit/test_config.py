"""The configuration: what is valid, and the exact message for everything that is not."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from monitor import strict_yaml
from monitor.config import (
    DEFAULT_METRICS,
    MIN_MEMORY,
    RESERVED_LABELS,
    Config,
    ConfigError,
    KafkaConfig,
    LimitsConfig,
    MetricConfig,
    SecurityConfig,
    TopicsConfig,
    load,
    start_time,
)
from monitor.events import MAX_RANKED, Impression
from monitor.stream.intake import size_bytes
from monitor.stream.records import Role

CONFIGS = Path(__file__).parent / "configs"
MAPPING = 'a mapping of keys, written as JSON: {"key": "value"}'
VALID = {"empty", "documented"}
INVALID = {
    "unknown-key": "lables: unknown key; see docs/configuration.md",
    "unknown-key-in-a-section": "kafka.group: unknown key; see docs/configuration.md",
    "number-as-key": "9109: unknown key; see docs/configuration.md",
    "a-list": "must be a mapping of keys, not list",
    "not-yaml": "not valid YAML: while parsing a flow sequence, line 1, column 10: "
    "expected ',' or ']', but got '<stream end>', line 2, column 1",
    "unknown-metric": 'metrics[2]: unknown metric "ndgc@10"; did you mean "ndcg@10"?'
    " run 'ranking-monitor metrics' for the list",
    "metric-with-parameters-and-no-name": 'metrics[0]: "ndcg(gain=exponential)@10" has parameters and needs'
    ' a name: {metric: "ndcg(gain=exponential)@10", name: ...}',
    "metrics-that-share-family-and-k": 'metrics: "ndcg@10" and "ndcg(gain=exponential)@10" would share'
    " vector_ndcg_avg and k; give one of them another name",
    "metric-twice-by-its-alias": 'metrics: "ap@100" and "map@100" would share vector_ap_avg and k;'
    " give one of them another name",
    "metric-that-is-always-there": 'metrics[0]: "latency" is always exported as'
    " vector_search_latency_seconds; take it out",
    "metric-with-a-bad-name": "metrics[0].name: String should match pattern '^[a-z][a-z0-9_]*$',"
    ' not "NDCG-10"',
    "metric-without-metric": "metrics[0].metric: Field required",
    "metric-with-a-bad-cut-off": 'metrics[0]: metric "ndcg@0": k must be a whole number, 1 or more, not "0"',
    "metric-without-its-cut-off": 'metrics[0]: metric "position_ctr": k is missing, a whole number, 1 or'
    ' more; write "position_ctr@1"',
    "reserved-label": 'labels[1]: label name "maturity" is used by Prometheus or by the metric families;'
    " rename it",
    "bad-label": 'labels[0]: label name "search engine" must match [a-zA-Z_][a-zA-Z0-9_]*'
    ' and not begin with "__"',
    "internal-label": 'labels[0]: label name "__name__" must match [a-zA-Z_][a-zA-Z0-9_]*'
    ' and not begin with "__"',
    "label-twice": "labels: stands twice: variant, variant",
    "labels-not-a-list": 'labels: must be a list, not "variant"',
    "label-values-of-another-label": 'label_values: "country" is not among labels; add it there, or take'
    " it out",
    "label-values-not-a-list": 'label_values.variant: must be a list, not "a"',
    "label-values-twice": "label_values.variant: stands twice: a, b, a",
    "memory-in-words": 'limits.memory: must be a size as 536870912 or "512MiB", not "much"',
    "memory-too-small": 'limits.memory: Input should be greater than or equal to 67108864, not "1MiB"',
    "impressions-without-interactions": "kafka.topics: give events, or both impressions and interactions",
    "events-and-impressions": "kafka.topics: give either events, or impressions and interactions, not both",
    "judgments-alone": "kafka.topics: give events, or both impressions and interactions",
    "topic-with-two-roles": "kafka.topics: stands twice: all, all",
    "missing-password-file": 'kafka.security.password_file: no such file: "no/such/password"',
    "mechanism-without-password": "kafka.security: mechanism, username and password_file go together",
    "certificate-without-key": "kafka.security: certificate_file and key_file go together",
    "unknown-mechanism": "kafka.security.mechanism: Input should be 'PLAIN', 'SCRAM-SHA-256' or"
    " 'SCRAM-SHA-512', not \"GSSAPI\"",
    "unknown-start": 'kafka.start: must be latest, earliest or an RFC 3339 time with an offset, not "noon"',
    "start-without-offset": "kafka.start: must be latest, earliest or an RFC 3339 time with an offset,"
    ' not "2026-01-01 00:00:00"',
    "listen-without-port": 'listen: must be host:port with a port up to 65535, not "localhost"',
    "listen-beyond-the-ports": 'listen: must be host:port with a port up to 65535, not "localhost:65536"',
    "listen-number": 'listen: Input should be a valid string, not "9109"',
    "attribution-in-words": 'attribution_seconds: must be a number, not the text "five minutes"',
    "attribution-zero": 'attribution_seconds: Input should be greater than 0, not "0"',
    "attribution-infinite": 'attribution_seconds: Input should be a finite number, not "inf"',
    "lateness-negative": 'lateness_seconds: Input should be greater than or equal to 0, not "-1"',
    "windows-not-a-list": 'windows: must be a list, not "60"',
    "windows-twice": "windows: stands twice: 60.0, 60.0",
    "maturities-empty": "judgments.maturities: Tuple should have at least 1 item after validation, not 0,"
    ' not "[]"',
    "maturities-twice": "judgments.maturities: stands twice: 3600.0, 60.0, 3600.0",
    "unknown-combine": "judgments.combine: Input should be 'mean' or 'median', not \"max\"",
    "limit-zero": 'limits.open: Input should be greater than or equal to 1, not "0"',
    "unknown-log-level": "log.level: Input should be 'debug', 'info', 'warning' or 'error', not \"loud\"",
    "unknown-commit": "commit: Input should be 'scrape' or 'interval', not \"never\"",
    "attribution-true": "attribution_seconds: must be a number, not true",
    "lateness-in-quotes": 'lateness_seconds: must be a number, not the text "5"',
    "windows-true": "windows[0]: must be a number, not true",
    "limit-half": 'limits.open: must be a whole number, not "1.5"',
    "tls-in-quotes": 'kafka.security.tls: must be true or false, not "yes"',
    "key-twice": 'line 3: key "labels" stands twice; take one out',
    "key-twice-in-a-section": 'line 3: key "group_id" stands twice; take one out',
    "servers-without-port": 'kafka.bootstrap_servers: must be host:port, several with commas, not "broker"',
    "servers-empty": 'kafka.bootstrap_servers: must be host:port, several with commas, not ""',
    "servers-comma-at-the-end": 'kafka.bootstrap_servers: must be host:port, several with commas, not "a:1,"',
    "group-empty": 'kafka.group_id: must be some text, not ""',
    "topic-with-a-space": 'kafka.topics.events[0]: topic "search events" must be 1 to 249'
    ' of a-z, A-Z, 0-9, ".", "_" and "-"',
    "topic-of-dots": 'kafka.topics.events[0]: topic ".." must be 1 to 249 of a-z, A-Z, 0-9, ".", "_" and "-"',
    "metric-beyond-the-ranks": 'metrics[0]: "ctr@1001": k is at most 1000,'
    " as many keys as an impression can have",
    "metric-named-as-another": 'metrics[0]: name "mrr" is another metric than'
    ' "ndcg(gain=exponential)@10"; take another',
    "metric-named-as-another-s-alias": 'metrics[0]: name "map" is another metric than'
    ' "ndcg(gain=exponential)@10"; take another',
    "section-is-null": 'kafka: must be a mapping of keys, not "None"',
}


def path(name):
    return CONFIGS / f"{name}.yaml"


@pytest.fixture
def written(tmp_path):
    def write(text):
        file = tmp_path / "monitor.yaml"
        file.write_text(text, encoding="utf-8")
        return file

    return write


@pytest.mark.parametrize(("name", "message"), INVALID.items(), ids=INVALID)
def test_an_invalid_file_gets_one_line_that_says_what_is_wrong(name, message, monkeypatch):
    monkeypatch.chdir(CONFIGS)
    with pytest.raises(ConfigError) as refused:
        load(path(name))
    assert str(refused.value) == f"{path(name)}: {message}"


def test_every_problem_of_a_file_gets_its_line():
    with pytest.raises(ConfigError) as refused:
        load(path("two-problems"))
    assert str(refused.value).splitlines() == [
        f'{path("two-problems")}: listen: must be host:port with a port up to 65535, not "here"',
        f"{path('two-problems')}: commit: Input should be 'scrape' or 'interval', not \"never\"",
    ]


def test_every_file_beside_this_test_is_tested():
    assert {file.stem for file in CONFIGS.iterdir()} == {*INVALID, *VALID, "two-problems"}


def test_a_file_that_is_not_there_cannot_be_read(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.yaml: cannot be read: No such file or directory$"):
        load(tmp_path / "none.yaml")


def test_a_file_that_is_not_text_is_not_yaml(tmp_path):
    (tmp_path / "binary.yaml").write_bytes(b"\x80\x81")
    with pytest.raises(ConfigError, match=r"binary\.yaml: not valid YAML: "):
        load(tmp_path / "binary.yaml")


@pytest.mark.parametrize("label", sorted(RESERVED_LABELS))
def test_no_label_of_the_families_or_of_prometheus_can_be_configured(label):
    with pytest.raises(ValidationError, match="is used by Prometheus or by the metric families"):
        Config(labels=(label,))


# What is valid.


def test_an_empty_file_is_valid_and_the_same_as_none():
    assert load(path("empty")) == load(None) == Config()


def test_the_documented_example_is_valid_and_says_the_defaults_except_for_the_commit():
    documented = load(path("documented"))
    assert documented == Config(commit="scrape")
    assert [entry.metric for entry in documented.metrics] == DEFAULT_METRICS


def test_everything_that_check_config_shows_is_a_valid_file_again(written):
    config = load(path("documented"))
    shown = yaml.safe_dump(config.model_dump(mode="json"))
    assert load(written(shown)) == config


def test_metrics_may_be_short_or_named(written):
    config = load(written('metrics: [ndcg@10, {metric: "ndcg(gain=exponential)@10", name: ndcg_exp}]'))
    assert [(entry.family_name, entry.measure.name) for entry in config.metrics] == [
        ("ndcg", "ndcg@10"),
        ("ndcg_exp", "ndcg(gain=exponential)@10"),
    ]


def test_one_family_may_have_several_cut_offs():
    assert len(Config(metrics=(MetricConfig(metric="ndcg@1"), MetricConfig(metric="ndcg@10"))).metrics) == 2


@pytest.mark.parametrize(
    ("listen", "address"),
    [
        ("127.0.0.1:9109", ("127.0.0.1", 9109)),
        ("0.0.0.0:0", ("0.0.0.0", 0)),
        ("[::1]:9109", ("::1", 9109)),
        ("monitor.example:65535", ("monitor.example", 65535)),
    ],
)
def test_the_address_to_listen_on_is_split(listen, address):
    assert Config(listen=listen).address == address


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("latest", None),
        ("earliest", None),
        ("2026-01-01T01:00:00+01:00", 1_767_225_600.0),
        ("2026-01-01T00:00:00Z", 1_767_225_600.0),
    ],
)
def test_the_start_is_a_word_or_a_time(written, text, start):
    assert start_time(load(written(f"kafka: {{start: {text}}}")).kafka.start) == start


def test_a_start_that_yaml_reads_as_a_time_is_that_time(written):
    config = load(written("kafka: {start: 2026-01-01T00:00:00Z}"))
    assert config.kafka.start == datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("topics", "roles"),
    [
        (TopicsConfig(events=("a", "b")), {"a": Role.EVENTS, "b": Role.EVENTS}),
        (TopicsConfig(events=("a",), judgments=("j",)), {"a": Role.EVENTS, "j": Role.JUDGMENTS}),
        (
            TopicsConfig(impressions=("i",), interactions=("c", "d"), judgments=("j",)),
            {"i": Role.IMPRESSIONS, "c": Role.INTERACTIONS, "d": Role.INTERACTIONS, "j": Role.JUDGMENTS},
        ),
    ],
)
def test_every_topic_has_its_role(topics, roles):
    assert topics.roles() == roles


def test_a_ca_or_a_client_certificate_implies_encryption(tmp_path):
    (file := tmp_path / "some.pem").touch()
    assert not SecurityConfig().encrypted
    assert SecurityConfig(tls=True).encrypted
    assert SecurityConfig(ca_file=file).encrypted
    assert SecurityConfig(certificate_file=file, key_file=file).encrypted


def test_a_configuration_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        Config().listen = "127.0.0.1:1"
    with pytest.raises(ValidationError, match="frozen"):
        KafkaConfig().group_id = "other"


def test_the_digest_changes_with_any_value_and_only_then():
    assert Config().digest == load(path("empty")).digest
    assert re.fullmatch("[0-9a-f]{12}", Config().digest)
    assert Config(lateness_seconds=61).digest != Config().digest


# The environment.


def test_the_environment_wins_over_the_file(written, monkeypatch):
    monkeypatch.setenv("RANKING_MONITOR__LISTEN", "0.0.0.0:80")
    assert load(written("listen: 127.0.0.1:1")).listen == "0.0.0.0:80"


def test_the_environment_reaches_into_sections_and_leaves_the_rest_of_them(written, monkeypatch):
    monkeypatch.setenv("RANKING_MONITOR__KAFKA__GROUP_ID", "from-environment")
    monkeypatch.setenv("RANKING_MONITOR__KAFKA__SECURITY__TLS", "true")
    kafka = load(written("kafka: {bootstrap_servers: 'broker:1', group_id: from-file}")).kafka
    assert (kafka.bootstrap_servers, kafka.group_id) == ("broker:1", "from-environment")
    assert kafka.security.tls


@pytest.mark.parametrize("text", ["536870912", "512MiB", "512Mi", "0.5GiB", "536870.912kB"])
def test_a_size_is_a_number_of_bytes_or_has_a_unit(text, monkeypatch, written):
    assert load(written(f"limits: {{memory: {text}}}")).limits.memory == 512 << 20
    monkeypatch.setenv("RANKING_MONITOR__LIMITS__MEMORY", text)
    assert load(None).limits.memory == 512 << 20


def test_the_values_of_labels_can_be_listed_in_the_environment_as_json(monkeypatch):
    monkeypatch.setenv("RANKING_MONITOR__LABEL_VALUES", '{"variant": ["a", "b"]}')
    assert load(None).label_values == {"variant": ("a", "b")}
    monkeypatch.setenv("RANKING_MONITOR__LABEL_VALUES", "a,b")
    with pytest.raises(ConfigError, match="LABEL_VALUES: must be a mapping of keys, written as JSON"):
        load(None)


def test_an_impression_with_the_most_results_is_never_too_large():
    least = LimitsConfig(memory=MIN_MEMORY).impression_bytes
    assert size_bytes(Impression("i", "q", 0.0, [f"k{i}" for i in range(MAX_RANKED)])) < least


def test_lists_in_the_environment_are_json(monkeypatch):
    monkeypatch.setenv("RANKING_MONITOR__LABELS", '["variant", "country"]')
    monkeypatch.setenv("RANKING_MONITOR__METRICS", '["ndcg@7"]')
    config = load(None)
    assert config.labels == ("variant", "country")
    assert [entry.metric for entry in config.metrics] == ["ndcg@7"]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "RANKING_MONITOR__LISTEN",
            "here",
            'RANKING_MONITOR__LISTEN: must be host:port with a port up to 65535, not "here"',
        ),
        (
            "RANKING_MONITOR__ATTRIBUTION_SECONDS",
            "abc",
            'RANKING_MONITOR__ATTRIBUTION_SECONDS: must be a number, not "abc"',
        ),
        (
            "RANKING_MONITOR__KAFKA__SECURITY__TLS",
            "perhaps",
            'RANKING_MONITOR__KAFKA__SECURITY__TLS: must be true or false, not "perhaps"',
        ),
        ("RANKING_MONITOR__WINDOWS", "[60, true]", "RANKING_MONITOR__WINDOWS[1]: must be a number, not true"),
        (
            "RANKING_MONITOR__LABELS",
            "variant",
            'RANKING_MONITOR__LABELS: must be a list, written as JSON: ["a", "b"], not "variant"',
        ),
        (
            "RANKING_MONITOR__KAFKA__TOPICS__EVENTS",
            "all",
            'RANKING_MONITOR__KAFKA__TOPICS__EVENTS: must be a list, written as JSON: ["a", "b"], not "all"',
        ),
        *(
            (
                "RANKING_MONITOR__KAFKA",
                value,
                f'RANKING_MONITOR__KAFKA: must be {MAPPING}, not "{value}"',
            )
            for value in ("broker:9092", "[1]")
        ),
        (
            "RANKING_MONITOR__KAFKA",
            '{"group": "a"}',
            "RANKING_MONITOR__KAFKA.group: unknown key; see docs/configuration.md",
        ),
        *(
            (name, "x", f"{name}: unknown variable; known are RANKING_MONITOR__<KEY> as in the config file")
            for name in (
                "RANKING_MONITOR__LISTNE",
                "RANKING_MONITOR__KAFKA__GROUP",
                "RANKING_MONITOR__LISTEN__PORT",
                "RANKING_MONITOR__",
            )
        ),
    ],
)
def test_a_mistake_in_the_environment_gets_one_line(monkeypatch, name, value, message):
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError) as refused:
        load(None)
    assert str(refused.value) == message


def test_only_what_came_from_the_environment_is_blamed_on_it(written, monkeypatch):
    file = written("kafka: {group_id: ''}\nlateness_seconds: -1")
    monkeypatch.setenv("RANKING_MONITOR__KAFKA", '{"start": "x"}')
    monkeypatch.setenv("RANKING_MONITOR__LATENESS_SECONDS", "-2")
    with pytest.raises(ConfigError) as refused:
        load(file)
    assert str(refused.value).splitlines() == [
        f'{file}: kafka.group_id: must be some text, not ""',
        'RANKING_MONITOR__KAFKA.start: must be latest, earliest or an RFC 3339 time with an offset, not "x"',
        'RANKING_MONITOR__LATENESS_SECONDS: Input should be greater than or equal to 0, not "-2"',
    ]


def test_where_file_and_environment_do_not_fit_both_are_named(written, monkeypatch):
    file = written("kafka: {security: {username: monitor}}")
    monkeypatch.setenv("RANKING_MONITOR__KAFKA__SECURITY__MECHANISM", "PLAIN")
    with pytest.raises(ConfigError) as refused:
        load(file)
    assert str(refused.value) == (
        f"{file}: kafka.security: mechanism, username and password_file go together"
        " (from the environment: RANKING_MONITOR__KAFKA__SECURITY__MECHANISM)"
    )


def test_numbers_and_booleans_in_the_environment_are_text(monkeypatch):
    for name, value in {"LATENESS_SECONDS": "1e3", "LIMITS__OPEN": "7", "KAFKA__SECURITY__TLS": "1"}.items():
        monkeypatch.setenv(f"RANKING_MONITOR__{name}", value)
    config = load(None)
    assert (config.lateness_seconds, config.limits.open, config.kafka.security.tls) == (1000.0, 7, True)


def test_a_repeated_key_is_told_from_one_that_overrides_a_merged_block():
    assert strict_yaml.parse(b"a: &a {x: 1}\nb: {<<: *a, x: 2}") == {"a": {"x": 1}, "b": {"x": 2}}


@pytest.mark.parametrize("servers", ["broker:9092", "a:1,b:2", "a:1, [::1]:2"])
def test_brokers_are_a_list_with_commas(servers):
    assert KafkaConfig(bootstrap_servers=servers).bootstrap_servers == servers


def test_a_metric_may_be_named_as_itself_and_reach_as_deep_as_a_ranking():
    named = MetricConfig(metric="ndcg(gain=exponential)@1000", name="ndcg")
    assert (named.family_name, named.measure.k) == ("ndcg", 1000)


def test_variables_of_others_are_none_of_our_business(monkeypatch):
    monkeypatch.setenv("RANKING_MONITOR_HOME", "/opt")
    assert load(None) == Config()
