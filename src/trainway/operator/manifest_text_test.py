from trainway.operator.manifest_text import manifest_text


def test_documents_have_no_aliases_and_texts_keep_their_lines() -> None:
    shared = {"a": "x\ny\n"}
    assert manifest_text([{"one": shared, "two": shared}, {"k": 1}]) == (
        "one:\n  a: |\n    x\n    y\ntwo:\n  a: |\n    x\n    y\n---\nk: 1\n"
    )
