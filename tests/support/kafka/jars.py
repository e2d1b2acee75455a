"""Kafka's jars from Maven Central, fetched once into .cache/kafka/<version>/libs."""

import os
import re
import shutil
import subprocess
from pathlib import Path

POM = Path(__file__).with_name("pom.xml")
CACHE = Path(__file__).parents[3] / ".cache" / "kafka"


def kafka_version() -> str:
    """Return the version the pom names.

    >>> kafka_version().count(".")
    2
    """
    found = re.search(r"<kafka\.version>(.+?)</kafka\.version>", POM.read_text())
    assert found, POM
    return found[1]


def fetch_jars() -> Path:
    """Return the folder with the jars, fetched with mvn if it is not there."""
    libs = CACHE / kafka_version() / "libs"
    if libs.is_dir():
        return libs
    partial = libs.with_name(f"libs-{os.getpid()}")
    mvn = ["mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies", f"-DoutputDirectory={partial}"]
    done = subprocess.run(mvn, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise RuntimeError(f"mvn could not fetch Kafka's jars:\n{done.stdout[-2000:]}")
    try:
        partial.rename(libs)
    except OSError:  # another run was faster
        shutil.rmtree(partial)
    return libs


def java_version() -> int:
    """Return the major version of `java` on the PATH, 0 if there is none."""
    try:
        told = subprocess.run(["java", "-version"], check=True, text=True, capture_output=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return 0
    found = re.search(r'version "(\d+)', told.stderr)
    return int(found[1]) if found else 0
