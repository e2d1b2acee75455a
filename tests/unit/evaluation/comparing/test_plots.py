"""The picture of a comparison: files that are what their names say, whatever the systems are called."""

import struct
import warnings
from pathlib import Path

import numpy as np
import pytest

from monitor.evaluation.comparing.compare import compare, compare_all
from monitor.evaluation.comparing.plots import plot_comparison
from monitor.evaluation.files.inputs import InputError
from tests.unit.evaluation.comparing.compared import HOSTILE, evaluation, systems


def drawn(path: Path, reports) -> bytes:
    plot_comparison(path, reports)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("suffix", "begin"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("PNG", b"\x89PNG")]
)
def test_the_suffix_decides_the_format(tmp_path, suffix, begin):
    assert drawn(tmp_path / f"plot.{suffix}", compare(systems(3), "ndcg@10")).startswith(begin)


def test_another_suffix_is_refused_before_anything_is_drawn(tmp_path):
    path = tmp_path / "plot.bmp"
    with pytest.raises(InputError) as refused:
        plot_comparison(path, compare(systems(2), "ndcg@10"))
    assert str(refused.value) == f'cannot draw "{path}": the name must end in .png, .svg or .pdf'
    assert not path.exists()


def test_a_png_is_large_enough_to_read_and_grows_with_the_measures(tmp_path):
    evaluations = systems(3)
    for each in evaluations:
        each.scores["map"] = each.scores["ndcg@10"] ** 2
    one = drawn(tmp_path / "one.png", compare(evaluations, "ndcg@10"))
    two = drawn(tmp_path / "two.png", compare_all(evaluations, ["ndcg@10", "map"]))
    (width, height), (wide, high) = (struct.unpack(">II", png[16:24]) for png in (one, two))
    assert width > 1500
    assert height > 500
    assert high > 1.7 * height
    assert abs(wide - width) < 0.1 * width


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_same_numbers_make_the_same_file(tmp_path, suffix):
    first, again = (drawn(tmp_path / f"{i}.{suffix}", compare(systems(2), "ndcg@10")) for i in range(2))
    assert first == again


@pytest.mark.parametrize("name", [HOSTILE, "$\\frac{", "日本語", "x" * 300, " "])
def test_any_name_can_be_drawn(tmp_path, name):
    pair = [evaluation("old", [0.1, 0.5, 0.2]), evaluation(name, [0.3, 0.4, 0.9])]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert drawn(tmp_path / "plot.png", compare(pair, "ndcg@10"))


def test_systems_that_do_not_differ_can_be_drawn(tmp_path):
    pair = [evaluation("old", [0.0, 0.0]), evaluation("new", [0.0, 0.0])]
    assert drawn(tmp_path / "plot.png", compare(pair, "ndcg@10"))


def test_more_systems_than_colours_can_be_drawn(tmp_path):
    assert drawn(tmp_path / "plot.png", compare(systems(12), "ndcg@10"))


def test_very_many_queries_do_not_make_a_large_drawing(tmp_path):
    rng = np.random.default_rng(2)
    pair = [evaluation(name, rng.random(100_000)) for name in ("a", "b")]
    assert len(drawn(tmp_path / "plot.svg", compare(pair, "ndcg@10"))) < 500_000
