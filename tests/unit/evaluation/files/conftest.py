"""Files with a given content, as people give them."""

import pytest


@pytest.fixture
def file(tmp_path):
    def write(content, name="file.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
