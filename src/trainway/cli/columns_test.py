from trainway.cli.columns import Columns


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    table = Columns(["NAME", "AGE"]).table([["a", "10s"], ["longer", ""]])
    assert table == "NAME    AGE\na       10s\nlonger\n"


def test_more_rows_keep_their_places_and_may_widen_them() -> None:
    columns = Columns(["NAME", "AGE"])
    columns.table([["longer", "1s"]])
    assert columns.rows([["a", "2s"]]) == "a       2s\n"
    assert columns.rows([["much longer", "2s"], ["a", "3s"]]) == (
        "much longer  2s\na            3s\n"
    )


def test_cells_can_be_painted_but_not_the_header() -> None:
    def paint(column: str, text: str) -> str:
        return f"<{column} {text}>"

    assert Columns(["A", "B"], paint).table([["x", "y"]]) == "A  B\n<A x>  <B y>\n"
