"""Settings for the brokers, and which errors waiting cannot heal."""

import ssl
import subprocess
from pathlib import Path

import pytest
from aiokafka import errors

from monitor.config import KafkaConfig, SecurityConfig
from monitor.sources.base import SourceError
from monitor.sources.kafka import client
from monitor.sources.kafka.client import client_id, probe, refusal, settings
from monitor.sources.kafka.waiting import Waiting


@pytest.fixture
def password(tmp_path: Path) -> Path:
    path = tmp_path / "password"
    path.write_text("secret \n")
    return path


def test_addresses_are_split_and_plaintext_is_the_default() -> None:
    chosen = settings(KafkaConfig(bootstrap_servers="a:1, b:2"))
    assert chosen["bootstrap_servers"] == ["a:1", "b:2"]
    assert chosen["security_protocol"] == "PLAINTEXT"
    assert "ssl_context" not in chosen


@pytest.mark.parametrize(("tls", "protocol"), [(False, "SASL_PLAINTEXT"), (True, "SASL_SSL")])
def test_a_password_loses_its_newline_and_nothing_else(password: Path, tls: bool, protocol: str) -> None:
    security = SecurityConfig(tls=tls, mechanism="SCRAM-SHA-512", username="me", password_file=password)
    chosen = settings(KafkaConfig(security=security))
    assert chosen["security_protocol"] == protocol
    assert chosen["sasl_mechanism"] == "SCRAM-SHA-512"
    assert chosen["sasl_plain_username"] == "me"
    assert chosen["sasl_plain_password"] == "secret "


def test_tls_verifies_certificate_and_host() -> None:
    context = settings(KafkaConfig(security=SecurityConfig(tls=True)))["ssl_context"]
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_a_file_that_is_no_certificate_is_named(password: Path) -> None:
    with pytest.raises(SourceError, match=r"password: not a PEM certificate: ") as raised:
        settings(KafkaConfig(security=SecurityConfig(ca_file=password)))
    assert "\n" not in str(raised.value)
    pair = SecurityConfig(certificate_file=password, key_file=password)
    with pytest.raises(SourceError, match=r"password and .*password: not a PEM certificate and its key: "):
        settings(KafkaConfig(security=pair))


def test_a_password_that_cannot_be_read_is_named(password: Path) -> None:
    password.write_bytes(b"\xff\xfe")
    security = SecurityConfig(mechanism="PLAIN", username="me", password_file=password)
    with pytest.raises(SourceError, match="password: cannot be read"):
        settings(KafkaConfig(security=security))


def test_a_protected_key_without_its_password_is_refused_not_asked_for(
    tmp_path: Path, password: Path
) -> None:
    certificate, key = tmp_path / "c.pem", tmp_path / "k.pem"
    make = "openssl req -x509 -newkey rsa:2048 -days 1 -subj /CN=x -passout pass:secret".split()
    subprocess.run([*make, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    security = SecurityConfig(certificate_file=certificate, key_file=key)
    with pytest.raises(SourceError, match="not a PEM certificate and its key"):
        settings(KafkaConfig(security=security))
    password.write_text("secret\n")
    settings(KafkaConfig(security=security.model_copy(update={"key_password_file": password})))


async def test_an_address_that_is_none_cannot_heal() -> None:
    with pytest.raises(SourceError, match=r"kafka\.bootstrap_servers: not host:port: localhost:http"):
        await probe(settings(KafkaConfig.model_construct(bootstrap_servers="localhost:http")))


@pytest.mark.parametrize(
    ("tls", "hint"), [(True, "; kafka.security asks for TLS, which this port may not speak; "), (False, "")]
)
async def test_a_port_that_hangs_up_may_not_speak_tls(
    tls: bool, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def create_conn(*_: object, **__: object) -> None:
        raise ConnectionResetError

    monkeypatch.setattr(client, "create_conn", create_conn)
    with pytest.raises(Waiting) as raised:
        await probe(settings(KafkaConfig(security=SecurityConfig(tls=tls))))
    assert raised.value.cause.startswith(f"ConnectionResetError{hint or '; is it running'}")
    assert "is it running" in raised.value.cause


async def test_where_nobody_listens_tls_is_not_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    async def create_conn(*_: object, **__: object) -> None:
        raise wrapped(ConnectionRefusedError(111, "refused"))

    monkeypatch.setattr(client, "create_conn", create_conn)
    with pytest.raises(Waiting) as raised:
        await probe(settings(KafkaConfig(security=SecurityConfig(tls=True))))
    assert "asks for TLS" not in raised.value.cause


def wrapped(cause: BaseException) -> BaseException:
    error: BaseException = errors.KafkaConnectionError("closed")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (errors.SaslAuthenticationFailed("no"), "authentication refused; check kafka.security"),
        (errors.UnsupportedSaslMechanismError("no"), "kafka.security.mechanism"),
        (errors.TopicAuthorizationFailedError("clicks"), "not authorised for topic clicks: allow"),
        (errors.TopicAuthorizationFailedError({"b", "a"}), "not authorised for topic a, b: allow"),
        (errors.GroupAuthorizationFailedError("mine"), "not authorised for group mine: allow Read"),
        (errors.GroupAuthorizationFailedError(), "not authorised for group"),
        (errors.InconsistentGroupProtocolError(), "another assignor"),
        (wrapped(ssl.SSLError(1, "[SSL: UNKNOWN_CA] unknown ca")), "TLS refused: "),
        (wrapped(ssl.SSLCertVerificationError(1, "no")), "TLS verification failed"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_a_refusal_is_told_in_words(error: BaseException, message: str) -> None:
    if isinstance(error.__cause__, ssl.SSLCertVerificationError):
        error.__cause__.verify_message = "self-signed certificate"
    assert message in (refusal(error) or "")


@pytest.mark.parametrize(
    "error",
    [
        ConnectionRefusedError(),
        TimeoutError(),
        errors.NodeNotReadyError(),
        errors.KafkaConnectionError("closed"),
        wrapped(ssl.SSLEOFError(8, "EOF occurred in violation of protocol")),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_may_heal_is_no_refusal(error: BaseException) -> None:
    assert refusal(error) is None


def test_a_client_id_names_the_host_and_the_address_and_has_only_letters_that_kafka_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "monitor-7d9f")
    assert client_id(("0.0.0.0", 9109)) == "ranking-monitor-monitor-7d9f-0.0.0.0-9109"
    assert client_id(("::1", 9109)) == "ranking-monitor-monitor-7d9f-__1-9109"


def test_a_process_that_listens_at_any_port_has_no_client_id_of_its_own() -> None:
    assert client_id(("127.0.0.1", 0)) == ""
