"""Mutations of valid input: of its bytes, of its lines, and of the words that its grammar knows."""

import re
from collections.abc import Callable, Sequence
from random import Random

NUMBERS = (
    *("0", "-0", "1", "-1", "0.5", "1e308", "1e309", "-1e308", "5e-324", "1e-400", "NaN", "Infinity", "-inf"),
    *(str(2**31), str(2**53 + 1), str(2**63), str(2**64), str(-(2**63) - 1), "9" * 400, "9" * 5000, "1_0"),
    *("0x_", "0b" + "1" * 100, "1:59", "2026-02-31", "2026-01-01T00:00:00Z", "2026-01-01T25:00:00+99:99"),
)
TEXTS = (
    *(
        '""',
        '"a"',
        f'"{"x" * 300}"',
        '"\\ud800"',
        '"\\u0000"',
        '"\\n"',
        "null",
        "true",
        "[]",
        "{}",
        "~",
        "''",
    ),
    *("[" * 60, "[" * 3000, '{"a":' * 60, "&a [*a]", "*a", "<<", "!!int x", "!!binary a", "? [a]", "\ufeff"),
    *(
        '"impression"',
        '"click"',
        '"judgment"',
        '"unknown"',
        '"2026-01-01T00:00:00Z"',
        "[1, 2]",
        '["d1", "d1"]',
    ),
)
BYTES = (
    b"\x00",
    b"\x0b",
    b"\x0c",
    b"\x1c",
    b"\x85",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\x1f\x8b",
    b"\n",
)
WORD = re.compile(rb'"(?:[^"\\]|\\.)*"|[-+.\w]+')


def mutated(seeds: Sequence[bytes], random: Random) -> bytes:
    """One of the seeds, with up to eight mutations."""
    data = random.choice(seeds)
    for _ in range(random.choice((0, 1, 1, 1, 2, 3, 8))):
        data = random.choice(MUTATIONS)(data, random, seeds)
    return data[: 1 << 16]


def _span(data: bytes, random: Random) -> tuple[int, int]:
    start = random.randint(0, len(data))
    return start, min(len(data), start + random.choice((0, 1, 1, 2, 8, 64)))


def _replace_word(data: bytes, random: Random, seeds: Sequence[bytes]) -> bytes:
    """A number, a string or a name becomes another, of this grammar or of none."""
    words = list(WORD.finditer(data))
    if not words:
        return data
    word = random.choice(words)
    others = [found.group() for found in WORD.finditer(random.choice(seeds))] or [b""]
    new = random.choice(
        (random.choice(NUMBERS).encode(), random.choice(TEXTS).encode(), random.choice(others))
    )
    return data[: word.start()] + new + data[word.end() :]


def _insert(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    at = random.randint(0, len(data))
    new = random.choice((random.choice(BYTES), random.choice(TEXTS).encode(), random.randbytes(2)))
    return data[:at] + new + data[at:]


def _flip(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    if not data:
        return data
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << random.randrange(8))]) + data[at + 1 :]


def _delete(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    start, end = _span(data, random)
    return data[:start] + data[end:]


def _repeat(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    start, end = _span(data, random)
    return data[:end] + data[start:end] * random.choice((1, 2, 100)) + data[end:]


def _cut(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    return data[: random.randint(0, len(data))]


def _splice(data: bytes, random: Random, seeds: Sequence[bytes]) -> bytes:
    other = random.choice(seeds)
    return data[: random.randint(0, len(data))] + other[random.randint(0, len(other)) :]


def _swap_lines(data: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    random.shuffle(lines)
    return b"\n".join(lines)


MUTATIONS: tuple[Callable[[bytes, Random, Sequence[bytes]], bytes], ...] = (
    *(_replace_word, _replace_word, _replace_word, _insert, _insert, _flip, _delete, _repeat, _cut, _splice),
    _swap_lines,
)
