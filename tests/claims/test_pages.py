"""Cells of a page: their code, options and lines, and other code in their place."""

from runproofs.claims.pages import Cell, cells, with_code

PAGE = """# A page

```{code-cell} ipython3
:tags: [parameters]
seed = 7
```

```python
no = "cell"
```

````{code-cell} ipython3
---
tags: [x]
---
print("```")
````

```{code-cell} ipython3
```
"""


def test_cells_are_read_with_options_and_lines():
    assert cells(PAGE) == [
        Cell("seed = 7\n", ":tags: [parameters]\n", 5),
        Cell('print("```")\n', "---\ntags: [x]\n---\n", 16),
        Cell("", "", 20),
    ]
    assert [cell.line for cell in cells(f"\n{PAGE}")] == [6, 17, 21]


def test_other_code_changes_nothing_else():
    assert with_code(PAGE, [cell.code for cell in cells(PAGE)]) == PAGE
    changed = with_code(PAGE, ["seed = 8\n", "", "last\n"])
    assert [cell.code for cell in cells(changed)] == ["seed = 8\n", "", "last\n"]
    assert [cell.options for cell in cells(changed)] == [cell.options for cell in cells(PAGE)]
    assert 'no = "cell"' in changed
