from types import SimpleNamespace

from booksite.numbering import letter_numbers


def test_each_part_outside_of_the_chapters_counts_its_own_figures_and_exercises():
    numbers = {
        "book/index": {"figure": {"cover": (1,)}},
        "book/ch2_shallow_linear/index": {"figure": {"coin": (2, 1)}},
        "book/companions/surprises/index": {
            "figure": {"a": (2,), "b": (3,)},
            "exercise": {"e": (1,)},
        },
        "book/companions/surprises/depth": {"figure": {"c": (4,)}},
        "book/companions/homogeneous/index": {"figure": {"d": (5,)}, "exercise": {"f": (2,)}},
    }
    letter_numbers(None, SimpleNamespace(toc_fignumbers=numbers))
    assert list(numbers.values()) == [
        {"figure": {"cover": (1,)}},
        {"figure": {"coin": (2, 1)}},
        {"figure": {"a": ("S", 1), "b": ("S", 2)}, "exercise": {"e": ("S", 1)}},
        {"figure": {"c": ("S", 3)}},
        {"figure": {"d": ("H", 1)}, "exercise": {"f": ("H", 1)}},
    ]
