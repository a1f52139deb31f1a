"""The result of an experiment that never ran, as the report reads it."""

from __future__ import annotations


def result(name: str, n_figures: int, held: bool | None) -> dict:
    """Made up: the first figure has two curves, the second twelve."""

    def curve(who: str, spread: bool) -> dict:
        y = [0.1, 0.01, 0.002]
        return {"name": who, "x": [1, 10, 100], "y": y, "low": [x / 2 for x in y] if spread else None,
                "high": [2 * x for x in y] if spread else None, "dashed": spread, "points": False}  # fmt: skip

    figure = {
        "title": "a <figure> & more", "note": "a note",
        "x": {"label": "seconds", "log": True}, "y": {"label": "f", "log": False},
        "curves": [curve("Pegasos", False), curve("SDCA", True)],
    }  # fmt: skip
    many = figure["curves"] + [curve(f"plain steps of 0.00{n}/(lambda t) on alpha", n % 2 == 0) for n in range(10)]
    return {
        "name": name, "title": f"title of {name}", "source": "section 7", "quick": True, "cpu_seconds": 61.0,
        "command": f"python paper/{name}.py --quick", "when": "2030-01-01T00:00:00Z", "seeds": [0, 1],
        "machine": {"cpu": "a cpu", "cores": 2, "caches": "L2", "memory_gb": 8, "system": "Linux",
                    "load": [0.1, 0.2, 0.3], "versions": {"python": "3", "pegasos": "1", "numpy": "2"},
                    "commit": "abc"},
        "figures": [figure, {**figure, "curves": many}][:n_figures],
        "tables": [{"title": "Table", "columns": ["a", "b"], "rows": [["1", "</script>"]], "note": ""}],
        "findings": [{"claim": "a claim of a paper", "held": held, "shown": "3 < 4", "figures": None},
                     {"claim": "one of a table", "held": held, "shown": "5", "figures": []}],
        "data": [{"paper": "CCAT", "here": "stand-in", "train": 9, "test": 3, "features": 5, "density": 0.2,
                  "lam": 1e-4, "gamma": 0.0, "paper sizes": [781265, 23149, 47236]}],
    }  # fmt: skip
