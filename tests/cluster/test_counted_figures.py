"""The figures of docs/distributed.md that are counted are those of the stored results."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "distributed.md").read_text(encoding="utf-8")
STORED = json.loads((ROOT / "benchmarks" / "results" / "distributed.json").read_text(encoding="utf-8"))
GROUPS = {
    "697,957 abstracts": "8 partitions of the abstracts, lam 1e-5",
    "200,000 generated texts": "200,000 rows x 20,000, lam 0.0001, in n partitions",
    "generated texts, 400": "n partitions of 400 rows x 20,000, lam 0.0025",
}


def lines():
    """Words, partitions, rounds and visits of each line of the table, and the result that it is of."""
    table = PAGE[PAGE.index("| rows | partitions | rounds |") :].split("\n\n")[0].splitlines()[2:]
    group = ""
    for line in table:
        words, partitions, rounds, visits, local = (cell.strip() for cell in line.strip("|").split("|"))
        group = next((name for start, name in GROUPS.items() if words.startswith(start)), group)
        yield words, partitions.replace(",", ""), rounds, visits, local, STORED.get(group, {})


def test_the_table_of_rounds_and_visits():
    compared = 0
    for words, partitions, rounds, visits, local, result in lines():
        found = result if "rounds" in result else result.get(partitions)
        assert (found is None) == words.endswith("*"), f"{words}: a star says that no result is stored"
        if found is None:
            continue
        compared += 1
        assert found["converged"]
        assert int(rounds) == found["rounds"]
        assert abs(float(visits) - found["epochs"]) <= (0.5 if "." not in visits else 0.05)
        if local:
            own, _, times = local.partition(" visits: ")
            assert abs(float(own) - found["local visits"] / found["rows"]) <= 0.05
            assert times == f"{found['visits of local ones']} times fewer"
    assert compared >= 6


def test_the_boundary_beyond_which_the_hinge_crawls():
    rough, fine, finest = next(each for name, each in STORED.items() if name.startswith("the hinge on 4,000")).values()
    text = " ".join(PAGE.split())
    assert f"certified 1e-2 after {rough['rounds']} rounds and {rough['epochs']:.0f} visits of each row" in text
    assert not fine["converged"]
    assert not finest["converged"]
    gap = f"{fine['gap']:.1e}".replace("e-0", "e-")
    assert f"used up after {fine['rounds']} rounds, with a gap of {gap}." in text
