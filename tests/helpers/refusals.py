"""Calls that the library must refuse, each in one sentence."""

import pytest


def refusals(*cases):
    """A test of each (call, words): it raises ValueError, in one sentence with these words."""

    @pytest.mark.parametrize(("call", "words"), cases)
    def test(call, words):
        with pytest.raises(ValueError, match=rf"(^|\W)({words})(\W|$)") as error:
            call()
        said = str(error.value)
        assert said.endswith("."), said
        assert "\n" not in said, said
        assert ". " not in said, said

    return test
