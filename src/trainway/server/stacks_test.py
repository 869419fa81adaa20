import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from trainway.engine.stacks.answer import rank_view
from trainway.json_types import Json
from trainway.server.routes.stacks import RankStacks

PLACE: Json = {"role": "node", "replica": 0, "rank": 1, "host": "h1", "remote": {"node": "x"}}
NAMES = ("processes", "threads", "frames", "pid", "error", "refused", "omitted", "name", "line")
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
answers = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(NAMES), answers, max_size=4))
def test_whatever_a_pod_answers_the_view_has_its_shape(answer: dict[str, Any]) -> None:
    view = rank_view(PLACE, answer)
    RankStacks.model_validate(view)
    assert len(json.dumps(view)) < 1 << 20
