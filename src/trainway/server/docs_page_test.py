from trainway.server.docs_page import docs_page

DESCRIPTION = {
    "info": {"title": "A <b>", "version": "1"},
    "paths": {
        "/things/{name}": {
            "post": {
                "tags": ["things"],
                "description": "Make a thing.\n\nIt is <made> once.",
                "parameters": [
                    {"name": "name", "in": "path", "schema": {"type": "string"}},
                    {
                        "name": "tail",
                        "in": "query",
                        "schema": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                        "description": "so many",
                    },
                ],
                "requestBody": {
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}
                    }
                },
                "responses": {"200": {"content": {"application/json": {"schema": {}}}}},
            }
        }
    },
    "components": {
        "schemas": {
            "Thing": {
                "properties": {
                    "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Part"}}
                }
            },
            "Part": {"properties": {"size": {"type": "integer", "description": "in bytes"}}},
        }
    },
}


def test_it_tells_all_of_an_operation() -> None:
    page = docs_page(DESCRIPTION)
    assert "<title>A &lt;b&gt; API</title>" in page
    assert "<b>POST</b> <code>/things/{name}</code>" in page
    assert "It is &lt;made&gt; once." in page
    assert "<td><code>tail</code></td><td>query, integer</td><td>so many</td>" in page
    assert "<td><code>parts[]</code></td><td>list of object</td>" in page
    assert "<td><code>parts[].size</code></td><td>integer</td><td>in bytes</td>" in page
