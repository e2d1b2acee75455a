"""Asserts in the shared module explain themselves as those in a test do."""

import pytest

pytest.register_assert_rewrite("tests.property.agreement")
