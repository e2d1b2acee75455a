"""Certificates for one test run: a CA, the broker's and a client's, made with openssl."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

# Key identifiers and usages are spelled out: newer Pythons verify strictly.
EXTENSIONS = """
[req]
distinguished_name = name
[name]
[ca]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[leaf]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth, clientAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = DNS:localhost, IP:127.0.0.1
"""


@dataclass(frozen=True, slots=True)
class Keys:
    """Paths of the PEM files."""

    ca_file: Path
    broker_file: Path
    """Private key and certificate in one file, as Kafka's PEM keystore wants them."""
    cert_file: Path
    key_file: Path


def make_keys(folder: Path) -> Keys:
    """Write the PEM files into a folder."""
    (folder / "openssl.cnf").write_text(EXTENSIONS)
    key(folder, "ca")
    openssl(
        folder,
        "req -x509 -config openssl.cnf -extensions ca -key ca.key -days 3 -subj /CN=test-ca -out ca.pem",
    )
    for name in ("broker", "client"):
        key(folder, name)
        openssl(folder, f"req -new -config openssl.cnf -key {name}.key -subj /CN={name} -out {name}.csr")
        openssl(
            folder,
            f"x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2"
            f" -extfile openssl.cnf -extensions leaf -out {name}.crt",
        )
    keystore = folder / "broker.pem"
    keystore.write_bytes((folder / "broker.key").read_bytes() + (folder / "broker.crt").read_bytes())
    return Keys(folder / "ca.pem", keystore, folder / "client.crt", folder / "client.key")


def key(folder: Path, name: str) -> None:
    """Make a private key; genpkey writes PKCS#8, the only form Kafka reads."""
    openssl(folder, f"genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out {name}.key")


def openssl(folder: Path, arguments: str) -> None:
    subprocess.run(["openssl", *arguments.split()], cwd=folder, check=True, capture_output=True, timeout=30)
