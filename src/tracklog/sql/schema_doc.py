"""Write the views as Markdown: `docs/schema.md` is this output.

python -m tracklog.sql.schema_doc > docs/schema.md
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tracklog.sql.ask import COSTS
from tracklog.store.public_views import SCHEMA_VERSION, VIEWS, PublicView

_HEAD = f"""\
<!-- Made by `python -m tracklog.sql.schema_doc`; do not edit. -->
# The views of the index

`tracklog sql` asks the index in SQL; the views below are what it promises (version {SCHEMA_VERSION}). Views and columns may be
added; none is renamed, dropped or given another meaning without a new version. The tables behind them are ours and
change with any release.

```sh
tracklog sql "select name, count(*) as n from calls where verdict = 'error' group by name order by n desc"
tracklog sql "select id, title from sessions where only_here = 1" --json
tracklog sql --engine duckdb "select approx_quantile(took_ms, 0.95) from calls where name = 'Bash'"
tracklog parquet out/ && duckdb -c "select month, sum(output_tokens) from 'out/ledger/**/*.parquet' group by 1"
```

- **Where they are.** In the file itself, so `sqlite3 index.db` has them as well (all but `costs`), in `tracklog sql`, with
  `--engine duckdb` as tables of the same names, and in the folder that `tracklog parquet DIR` writes (`costs` is in all three).
- **Types.** `text`, `integer`, `real`; in DuckDB and Parquet `VARCHAR`, `BIGINT`, `DOUBLE`. Times are texts in ISO 8601
  (UTC), as the log says them, so they sort and compare; flags are 0 or 1; lists are JSON. What nobody knows is null. A text
  of a log that holds half a character is kept as bytes.
- **What is in them.** Sessions whose log is gone and that only the archive has are there, with `only_here` = 1. What a
  log held before it was rewritten is not. Sessions that `tracklog sessions` does not list are left out with all their
  parts; what they spent stays in `ledger`, their files stay in `files` and `texts`.
- **Joining.** A session is told by `agent` and `session` (in `sessions`: `id`), a thread by these and `thread`, a request
  and a call by `id`; in `calls` the request is `request`, in `ledger` it is `key`. A request has no row in `ledger` if nothing
  was spent, and several if its log counts it in parts. Copies that a fork took along are rows with `inherited` = 1; count
  without them.
- **Money.** Prices are not in the index: they change, and you may have your own (`tracklog prices`). `tracklog sql` makes the
  table `costs` when a question names it, with one row for each row of `ledger`: `select sum(cost_pico_usd) / 1e12 from ledger
  join costs using (id)`.
- **Words.** In SQLite `texts` can be searched: `select path, line from texts where id in (select rowid from words
  where words match 'timeout')`. `tracklog search` does more, and shows the text.
- **Limits.** `tracklog sql` only reads: one SELECT, no ATTACH, no PRAGMA, no writing. It ends after `--timeout` (10 s) with
  exit code 1 and gives `--limit` (1,000) rows, 64 MB at most; `truncated` says that there were more.
- **Parquet.** `VIEW/agent=…/month=…/data_N.parquet`: rows lie by agent and by the month of the column that is marked below.
  Both are columns for whatever reads such folders. A row without them lies in `__HIVE_DEFAULT_PARTITION__`.
"""


def described() -> list[dict[str, Any]]:
    """The views and their columns, as JSON documents name them."""
    return [
        {
            "name": view.name,
            "what": view.what,
            "columns": [
                {"name": column.name, "type": column.type, "what": column.what} for column in view.columns
            ],
        }
        for view in (*VIEWS, COSTS)
    ]


def page() -> str:
    """The whole page in Markdown."""
    return "\n".join([_HEAD, *(_section(view) for view in (*VIEWS, COSTS))])


def _section(view: PublicView) -> str:
    head = f"## {view.name}\n\n{view.what}\n\n| column | type | what it is |\n|---|---|---|\n"
    return head + "".join(_rows(view))


def _rows(view: PublicView) -> Iterator[str]:
    for column in view.columns:
        mark = " *Its month is that of the row.*" if column.name == view.time else ""
        yield f"| `{column.name}` | {column.type} | {column.what}{mark} |\n"


if __name__ == "__main__":
    print(page(), end="")
