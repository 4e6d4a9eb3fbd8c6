"""All that the program says and writes, as it is recorded in tests/data/outputs.txt: where that
changes, a change of the program is meant to, and `python3 tests/transcript.py PROGRAM` records it.
"""
import transcript
from conftest import PROGRAM

import pytest


@pytest.mark.parametrize("scene", [each for each in transcript.scenes() if each.mark != "?"],
                         ids=lambda scene: scene.command[:60])
def test_output_is_what_is_recorded(scene):
    assert transcript.differences(scene.mark, scene.files, transcript.run(PROGRAM, scene.command)) == []
