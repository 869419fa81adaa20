from dataclasses import dataclass, field
from typing import Any

import pytest

from trainway.errors import UsageError
from trainway.llm.columns import (
    Form,
    check_template,
    converted,
    is_whole,
    layout_of,
    template_error,
)
from trainway.llm.configuration import Task


@dataclass(frozen=True)
class Case:
    id: str
    row: dict[str, Any]
    form: Form
    made: dict[str, Any]
    mapped: dict[str, str] = field(default_factory=dict)
    task: Task = Task.SFT
    has_template: bool = True


ASKED = [{"role": "user", "content": "q"}]
SAID = [{"role": "assistant", "content": "a"}]


@pytest.mark.parametrize(
    "case",
    [
        Case("text", {"text": "t", "id": 1}, Form.TEXT, {"text": "t"}),
        Case("prompt", {"prompt": "q", "completion": "a"}, Form.PROMPT,
             {"prompt": "q", "completion": "a"}),
        Case("mapped", {"question": "q", "reply": "a"}, Form.PROMPT,
             {"prompt": "q", "completion": "a"}, {"prompt": "question", "completion": "reply"}),
        Case("messages", {"messages": ASKED + SAID}, Form.MESSAGES, {"messages": ASKED + SAID}),
        Case("messages without tools", {"messages": ASKED + SAID, "tools": []}, Form.MESSAGES,
             {"messages": ASKED + SAID, "tools": None}),
        Case("other names of roles",
             {"conversations": [{"from": "human", "value": "q"}, {"from": "gpt", "value": "a"}]},
             Form.MESSAGES, {"messages": ASKED + SAID}),
        Case("instructions", {"instruction": "q", "input": "", "output": "a"}, Form.INSTRUCTION,
             {"prompt": ASKED, "completion": SAID}),
        Case("instructions without a template", {"instruction": "q", "input": "i", "output": "a"},
             Form.INSTRUCTION,
             {"prompt": "### Instruction\nq\n\n### Input\ni\n\n### Answer\n", "completion": "a"},
             has_template=False),
        Case("tokens", {"input_ids": [1], "text": "t"}, Form.TOKENS, {"input_ids": [1]}),
        Case("mapped from columns called as tokens", {"input_ids": "q", "labels": "a"}, Form.PROMPT,
             {"prompt": "q", "completion": "a"}, {"prompt": "input_ids", "completion": "labels"}),
        Case("mapped beside tokens", {"input_ids": [1], "q": "q"}, Form.TEXT, {"text": "q"},
             {"text": "q"}),
        Case("tokens mapped", {"ids": [1], "x": [2]}, Form.TOKENS,
             {"input_ids": [1], "labels": [2]}, {"input_ids": "ids", "labels": "x"}),
        Case("pairs", {"prompt": "q", "chosen": "a", "rejected": "b", "id": 1}, Form.PREFERENCE,
             {"prompt": "q", "chosen": "a", "rejected": "b"}, task=Task.DPO),
        Case("pairs alone", {"chosen": "a", "rejected": "b"}, Form.PREFERENCE,
             {"chosen": "a", "rejected": "b"}, task=Task.DPO),
    ],
    ids=lambda case: case.id,
)  # fmt: skip
def test_rows_become_what_trl_takes(case: Case) -> None:
    layout = layout_of(list(case.row), case.task, case.mapped)
    assert layout.form is case.form
    assert converted(case.row, layout, has_template=case.has_template) == case.made


@pytest.mark.parametrize(
    ("columns", "task", "mapped", "said", "hint"),
    [
        (["q", "a"], Task.SFT, {}, "dataset: its columns are q, a; sft needs input_ids; or",
         "columns.text=q"),
        (["text"], Task.DPO, {}, "dataset: its columns are text; dpo needs chosen and rejected",
         "columns.chosen=text"),
        (["q"], Task.SFT, {"prompt": "question"},
         "columns.prompt: the data has no column 'question'", "it has q"),
        (["text", "q"], Task.SFT, {"question": "q"},
         "columns.question: data with text has no such part", "it has text"),
    ],
)  # fmt: skip
def test_columns_that_do_not_fit_are_named(
    columns: list[str], task: Task, mapped: dict[str, str], said: str, hint: str
) -> None:
    with pytest.raises(UsageError) as raised:
        layout_of(columns, task, mapped)
    assert raised.value.message.startswith(said)
    assert hint in (raised.value.hint or "")


def test_conversations_need_a_template() -> None:
    layout = layout_of(["messages"], Task.SFT, {})
    check_template(layout, {"messages": ASKED}, has_template=True)
    check_template(layout_of(["text"], Task.SFT, {}), {"text": "t"}, has_template=False)
    with pytest.raises(UsageError, match="the tokenizer has no template"):
        check_template(layout, {"messages": ASKED}, has_template=False)


def test_a_row_must_have_what_its_form_needs() -> None:
    layout = layout_of(["input", "answer", "instruction"], Task.SFT, {"output": "answer"})
    assert layout.needed == ("instruction", "output")
    assert is_whole({"instruction": "a", "answer": "", "input": None}, layout)
    assert not is_whole({"instruction": "a", "answer": None, "input": "b"}, layout)
    assert not is_whole({"messages": None}, layout_of(["messages"], Task.SFT, {}))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"messages": "hello"}, "a row has 'hello' as messages"),
        ({"messages": [1, 2]}, r"a row has \[1, 2\] as messages"),
        ({"text": ["a", "b"]}, r"a row has \['a', 'b'\] as text"),
        ({"text": "x" * 500}, ""),
        ({"text": {"x": "y" * 500}}, r"y\.\.\. as text"),
    ],
)
def test_rows_that_are_not_what_their_column_says_are_shown(row: dict[str, Any], said: str) -> None:
    layout = layout_of(list(row), Task.SFT, {})
    if not said:
        assert converted(row, layout, has_template=True) == row
        return
    with pytest.raises(UsageError, match=said) as raised:
        converted(row, layout, has_template=True)
    assert len(raised.value.message) < 120


def test_a_template_that_cannot_be_used_is_one_sentence() -> None:
    kind = type("TemplateError", (Exception,), {"__module__": "jinja2.exceptions"})
    syntax = type("TemplateSyntaxError", (kind,), {"__module__": "other"})
    found = template_error(syntax("System role not supported\nline 1"))
    assert found is not None
    assert found.message == "chat_template: System role not supported"
    assert template_error(ValueError("x")) is None
