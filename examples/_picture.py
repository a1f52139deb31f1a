"""What the pictures share: looks, and where they are saved."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from PIL import Image
from sklearn.exceptions import ConvergenceWarning

from pegasos import PegasosClassifier

mpl.use("Agg")
import matplotlib.pyplot as plt  # only after the choice of backend

FOLDER = Path(__file__).parents[1] / "docs" / "images"
BLUE, ORANGE, GREEN, RED, PURPLE, GREY = "#0b62a8", "#d9730d", "#3f8f3a", "#b5262b", "#7a4fa3", "#7a7a7a"

warnings.simplefilter("ignore", ConvergenceWarning)  # most fits here are stopped early on purpose
plt.rcParams.update(
    {
        "font.size": 11,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.alpha": 0.25,
        "axes.titlelocation": "left",
        "axes.titlesize": 11.5,
        "lines.linewidth": 2,
    }
)


def panels(n: int = 2, width: float = 10.5, height: float = 4.6, **how: Any) -> tuple[Any, Any]:
    return plt.subplots(1, n, figsize=(width, height), layout="constrained", **how)


def label_ends(axes: Any, ends: list[tuple[float, float, str, str]], least: float = 0.055) -> None:
    """Write names beside the right ends of lines, (x, y, name, colour), pushed apart where they would touch."""
    low, high = np.log(axes.get_ylim())
    places = sorted(((x, (np.log(y) - low) / (high - low), *rest) for x, y, *rest in ends), key=lambda e: e[1])
    heights = [place[1] for place in places]
    for _ in range(100):
        for i in range(1, len(heights)):
            lack = least - (heights[i] - heights[i - 1])
            if lack > 0:
                heights[i - 1] -= lack / 2
                heights[i] += lack / 2
    beside = {"textcoords": "offset points", "va": "center", "fontsize": 10, "annotation_clip": False}
    for (x, _, name, colour), height in zip(places, heights, strict=True):
        axes.annotate(name, (x, height), (7, 0), xycoords=axes.get_xaxis_transform(), color=colour, **beside)


def optimum(X: Any, y: Any, **problem: Any) -> float:
    """f(w*), to a certified 1e-9."""
    best = PegasosClassifier(tol=1e-9, max_epochs=1e4, random_state=0, **problem).fit(X, y)
    assert best.converged_
    return float(best.objective_ - best.gap_)


def geometric_mean(values: Any) -> Any:
    return np.exp(np.mean(np.log(np.maximum(values, 1e-12)), axis=0))


def save(figure: Any, name: str) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    path, drawn = FOLDER / f"{name}.png", io.BytesIO()
    figure.savefig(drawn, dpi=110)
    plt.close(figure)
    Image.open(drawn).convert("RGB").quantize(255, method=Image.Quantize.FASTOCTREE).save(
        path, optimize=True
    )  # a third of the size
    print(f"{path.relative_to(FOLDER.parents[1])}: {path.stat().st_size / 1000:.0f} kB")
