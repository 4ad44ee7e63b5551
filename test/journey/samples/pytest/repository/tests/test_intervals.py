import pytest

from intervals import merge


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], []),
        ([(3, 4), (1, 2)], [(1, 2), (3, 4)]),
        ([(1, 5), (2, 3)], [(1, 5)]),
        ([(1, 2), (2, 3)], [(1, 3)]),
    ],
)
def test_merge(given, expected):
    assert merge(given) == expected
