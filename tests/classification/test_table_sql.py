from __future__ import annotations

import pytest

from elision.classification import load_table
from elision.message import ToolCall

WRITES = (
    "WITH late AS (SELECT id FROM orders) DELETE FROM orders WHERE id IN (SELECT id FROM late)",
    "-- tidy up\nDELETE FROM orders",
    "/* x */ update orders set paid = 1",
    "BEGIN; UPDATE orders SET paid = 1; COMMIT",
    "EXEC sp_pay 7",
    "  insert into t values (1)",
)
READS = ("SELECT * FROM orders", "WITH t AS (SELECT 1) SELECT * FROM t", "EXPLAIN SELECT updated_at FROM orders")


@pytest.mark.parametrize("tool", ["sql_query", "query_db", "run_sql_query", "execute_sql"])
@pytest.mark.parametrize("statement", WRITES)
def test_a_statement_that_writes_is_a_receipt_wherever_its_verb_stands(tool: str, statement: str) -> None:
    found = load_table("default").classify(ToolCall("c", tool, {"query": statement}))

    assert "receipt" in found.classes


@pytest.mark.parametrize("statement", READS)
def test_a_statement_that_reads_is_no_receipt(statement: str) -> None:
    found = load_table("default").classify(ToolCall("c", "sql_query", {"query": statement}))

    assert found.classes == {"dynamic"}
