"""Which columns of a dataset mean what, and its rows in the form that TRL trains on. Pure.

Five forms are known by the names of their columns. Other names are mapped by the user; where they
are not, the error says which columns there are, and how to map them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from trainway.errors import UsageError
from trainway.llm.configuration import Task

Row = Mapping[str, Any]


class Form(Enum):
    """What the rows of a dataset are."""

    TOKENS = "tokens"
    MESSAGES = "messages"
    PROMPT = "prompt and completion"
    INSTRUCTION = "instruction and output"
    TEXT = "text"
    PREFERENCE = "chosen and rejected"


_NEEDED: Final = {
    Task.SFT: (
        (Form.TOKENS, ("input_ids",)),
        (Form.MESSAGES, ("messages",)),
        (Form.PROMPT, ("prompt", "completion")),
        (Form.INSTRUCTION, ("instruction", "output")),
        (Form.TEXT, ("text",)),
    ),
    Task.DPO: ((Form.PREFERENCE, ("chosen", "rejected")),),
}
"""The columns by which a form is known; the first that fits counts, and first what is mapped."""
_OPTIONAL: Final = {
    Form.TOKENS: ("labels",),
    Form.MESSAGES: ("tools",),
    Form.INSTRUCTION: ("input", "system"),
    Form.PREFERENCE: ("prompt",),
}
_ALIASES: Final = {"conversations": "messages", "response": "output"}
_SHOWN: Final = 60
"""So much of a wrong value is repeated."""
_ROLES: Final = {"human": "user", "gpt": "assistant", "bot": "assistant"}


@dataclass(frozen=True)
class Layout:
    """The form of a dataset, and the column of the data for each of its parts."""

    form: Form
    sources: Mapping[str, str]

    @property
    def needed(self) -> tuple[str, ...]:
        """The parts that every row must have."""
        forms = dict(each for known in _NEEDED.values() for each in known)
        return forms[self.form]


def layout_of(columns: Sequence[str], task: Task, mapped: Mapping[str, str]) -> Layout:
    """What the data is; a UsageError names its columns if they fit no form."""
    for part, column in mapped.items():
        if column not in columns:
            raise UsageError(
                f"columns.{part}: the data has no column {column!r}",
                field=f"columns.{part}",
                hint=f"it has {', '.join(columns)}",
            )
    known = {_ALIASES.get(name, name): name for name in reversed(columns)}
    known |= {name: name for name in columns} | dict(mapped)
    for form, needed in sorted(_NEEDED[task], key=lambda each: not {*mapped} <= {*_parts(*each)}):
        if all(part in known for part in needed):
            parts = _parts(form, needed)
            unused = [part for part in mapped if part not in parts]
            if unused:
                raise UsageError(
                    f"columns.{unused[0]}: data with {form.value} has no such part",
                    field=f"columns.{unused[0]}",
                    hint=f"it has {', '.join(parts)}",
                )
            return Layout(form, {part: known[part] for part in parts if part in known})
    wanted = "; or ".join(" and ".join(needed) for _, needed in _NEEDED[task])
    first = _NEEDED[task][-1][1][0]
    raise UsageError(
        f"dataset: its columns are {', '.join(columns)}; {task.value} needs {wanted}",
        field="columns",
        hint=f"say which column is which: columns.{first}={columns[0] if columns else 'NAME'}",
    )


def _parts(form: Form, needed: tuple[str, ...]) -> tuple[str, ...]:
    return (*needed, *_OPTIONAL.get(form, ()))


def is_whole(row: Row, layout: Layout) -> bool:
    """Whether a row has all that it needs: files have empty cells, and lines without a name."""
    return all(row[layout.sources[part]] is not None for part in layout.needed)


def check_template(layout: Layout, row: Row, *, has_template: bool) -> None:
    """Refuse conversations where the tokenizer does not know how to write them down."""
    values = converted(row, layout, has_template=has_template).values()
    if has_template or not any(_is_conversation(value) for value in values):
        return
    raise UsageError(
        "chat_template: the data has conversations, and the tokenizer has no template for them",
        field="chat_template",
        hint="name a Jinja file: chat_template=FILE.jinja",
    )


def template_error(error: BaseException) -> UsageError | None:
    """What to say of a template that cannot be read, or that refuses the data as some do."""
    if not any(each.__module__ == "jinja2.exceptions" for each in type(error).__mro__):
        return None
    return UsageError(
        f"chat_template: {str(error).partition(chr(10))[0]}",
        field="chat_template",
        hint="name another template: chat_template=FILE.jinja, or change the data: some templates"
        " know no system messages, or want questions and answers in turn",
    )


def converted(row: Row, layout: Layout, *, has_template: bool) -> dict[str, Any]:
    """A row as TRL trains on it; all rows of a layout have the same parts, as a table must."""
    parts = {part: row[column] for part, column in layout.sources.items()}
    if layout.form is Form.INSTRUCTION:
        return _instruction(parts, has_template=has_template)
    if layout.form is Form.TEXT and not isinstance(parts["text"], str):
        raise _odd(layout, "text", parts["text"], "it must be a text")
    if layout.form is Form.MESSAGES:
        said = parts.pop("messages")
        if not isinstance(said, list) or not all(isinstance(each, Mapping) for each in said):
            raise _odd(layout, "messages", said, "it must be a list of messages with role, content")
        messages = [_message(each) for each in said]
        return {"messages": messages, **{key: value or None for key, value in parts.items()}}
    return parts


def _odd(layout: Layout, part: str, value: Any, hint: str) -> UsageError:
    """What to say of a row that is not what its column says."""
    column, shown = layout.sources[part], repr(value)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
    return UsageError(f"dataset: a row has {shown} as {column}", field="dataset", hint=hint)


def _is_conversation(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def _message(message: Row) -> dict[str, Any]:
    """A message with the names of roles that templates know."""
    if "from" not in message:
        return dict(message)
    role = str(message["from"])
    return {"role": _ROLES.get(role, role), "content": message.get("value")}


def _instruction(parts: Row, *, has_template: bool) -> dict[str, Any]:
    asked = str(parts["instruction"])
    given = str(parts.get("input") or "")
    system = str(parts.get("system") or "")
    if has_template:
        asked = f"{asked}\n\n{given}" if given else asked
        first = [{"role": "system", "content": system}] if system else []
        return {
            "prompt": [*first, {"role": "user", "content": asked}],
            "completion": [{"role": "assistant", "content": str(parts["output"])}],
        }
    sections = [("", system), ("Instruction", asked), ("Input", given)]
    texts = [f"### {title}\n{text}" if title else text for title, text in sections if text]
    return {"prompt": "\n\n".join([*texts, "### Answer\n"]), "completion": str(parts["output"])}
