"""What a fitted model can be written to. Nothing is imported before it is asked for."""

from __future__ import annotations

from .atomic import Path


class Files:
    """Mixin of all estimators."""

    def save(self, path: Path, sparse: bool = False) -> None:
        """Write the fitted model to a file: safetensors, which holds data and nothing that could run.

        Parameters
        ----------
        path : str or path-like
            The file. What was there before stays whole until the new one is.
        sparse : bool, default=False
            Whether only the weights that are not zero are written, where more than half of them are. The loaded model
            is the same.
        """
        from .models import save_model

        save_model(self, path, sparse)
