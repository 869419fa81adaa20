"""The description of the API as one page of HTML, which loads nothing and runs nothing.

FastAPI's own page loads its parts from other hosts, and would show to those who asks.
"""

from collections.abc import Iterator
from html import escape
from typing import Final

from trainway.json_types import Json

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
"""What browsers may load for the page."""
_STYLE: Final = """
:root { color-scheme: light dark; --line: light-dark(#d5d9de, #3b4148);
  --dim: light-dark(#5b6570, #9aa4af); }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem;
  color: light-dark(#1b1f24, #e3e7eb); background: light-dark(#fff, #15181c); }
h1 { font-size: 1.5rem; } h2 { margin: 2rem 0 .5rem; text-transform: capitalize; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0; }
summary { padding: .5rem .75rem; cursor: pointer; overflow-wrap: anywhere; }
summary b { display: inline-block; min-width: 4.5rem; }
details > div { padding: 0 .75rem .75rem; overflow-x: auto; }
code { font-family: ui-monospace, monospace; font-size: .92em; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0;
  border-top: 1px solid var(--line); }
th, .dim { color: var(--dim); font-weight: normal; }
p { margin: .3rem 0; white-space: pre-line; }
"""


def docs_page(description: Json) -> str:
    """The page for an OpenAPI description."""
    info = description["info"]
    head = f"<title>{escape(info['title'])} API</title>"
    meta = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    parts = "".join(_parts(description))
    return (
        f'<!doctype html><html lang="en"><head>{meta}{head}<style>{_STYLE}</style></head><body>'
        f"<h1>{escape(info['title'])} API {escape(info['version'])}</h1>"
        f'<p class="dim">The same for programs: <a href="openapi.json">openapi.json</a></p>'
        f"{parts}</body></html>"
    )


def _parts(description: Json) -> Iterator[str]:
    schemas = description.get("components", {}).get("schemas", {})
    by_tag: dict[str, list[str]] = {}
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            tag = (operation.get("tags") or ["other"])[0]
            by_tag.setdefault(tag, []).append(_operation(path, method, operation, schemas))
    for tag, operations in by_tag.items():
        yield f"<h2>{escape(tag)}</h2>{''.join(operations)}"


def _operation(path: str, method: str, operation: Json, schemas: Json) -> str:
    said = str(operation.get("description") or operation.get("summary") or "")
    first, _, rest = said.partition("\n")
    tables = "".join(_tables(operation, schemas))
    more = f"<p>{escape(rest.strip())}</p>" if rest.strip() else ""
    return (
        f"<details><summary><b>{method.upper()}</b> <code>{escape(path)}</code> "
        f'<span class="dim">{escape(first)}</span></summary><div>{more}{tables}</div></details>'
    )


def _tables(operation: Json, schemas: Json) -> Iterator[str]:
    parameters = [
        (one["name"], f"{one['in']}, {_type(one['schema'])}", one)
        for one in operation.get("parameters", [])
    ]
    yield _table("Parameter", parameters)
    for content in operation.get("requestBody", {}).get("content", {}).values():
        yield _table("Body", _fields(content.get("schema", {}), schemas))
    for status, response in operation.get("responses", {}).items():
        for content in response.get("content", {}).values():
            if status != "default":
                yield _table(f"Answer {status}", _fields(content.get("schema", {}), schemas))


def _table(title: str, rows: list[tuple[str, str, Json]]) -> str:
    lines = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{escape(kind)}</td>"
        f"<td>{escape(str(one.get('description') or ''))}</td></tr>"
        for name, kind, one in rows
    )
    return f"<table><tr><th>{title}</th><th></th><th></th></tr>{lines}</table>" if rows else ""


def _fields(schema: Json, schemas: Json, prefix: str = "") -> list[tuple[str, str, Json]]:
    """The fields of an object, and those of the objects in it."""
    schema = _resolved(schema, schemas)
    found = []
    for name, field in schema.get("properties", {}).items():
        inner = _resolved(field.get("items", field), schemas)
        path = f"{prefix}{name}{'[]' if 'items' in field else ''}"
        found.append((path, _type(field), field))
        if "properties" in inner:
            found += _fields(inner, schemas, f"{path}.")
    return found


def _resolved(schema: Json, schemas: Json) -> Json:
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    return schemas.get(name, {}) if name else schema


def _type(schema: Json) -> str:
    if "anyOf" in schema:
        kinds = [_type(one) for one in schema["anyOf"]]
        return " or ".join(kind for kind in kinds if kind != "null")
    if "$ref" in schema:
        return "object"
    kind = str(schema.get("type", "any"))
    return f"list of {_type(schema.get('items', {}))}" if kind == "array" else kind
