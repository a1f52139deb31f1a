"""The commands and their options. Nothing heavy is imported before a command runs: --help has to be quick."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .checks import check_model, check_training, number_or_word, refuse_both, refuse_over
from .group import Commands
from .options import (
    Bias,
    Data,
    Format,
    Json,
    Kernel,
    Loss,
    Memory,
    ModelFile,
    Output,
    Quiet,
    RowFormat,
    Rows,
    SkipBad,
    Solver,
    Target,
    Threads,
)

app = typer.Typer(
    cls=Commands,
    name="pegasos",
    help="Train support vector machines from files, and know how good the answer is.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _source(path: str, rows: Rows | None, target: str | None, skip_bad: int, threads: int) -> Any:
    from .rows import Source

    return Source(path, rows.value if rows is not None else None, target, skip_bad, threads)


@app.command()
def train(
    ctx: typer.Context,
    data: Annotated[str | None, typer.Argument(help="File of rows; - for the standard input.", metavar="DATA")] = None,
    model: Annotated[
        str | None, typer.Option("-m", "--model", help="Where the model goes; - for the standard output.")
    ] = None,
    lam: Annotated[float, typer.Option("--lam", help="Strength of the L2 penalty: 1 / (C * number of rows).")] = 1e-4,
    loss: Annotated[
        Loss | None, typer.Option("--loss", help="Loss of a row; hinge, or that of the kind of model.")
    ] = None,
    tol: Annotated[
        float, typer.Option("--tol", help="Stop when the gap is at most tol times the objective of zero.")
    ] = 1e-3,
    bias: Annotated[Bias | None, typer.Option("--bias", help="How the bias is fitted.")] = None,
    solver: Annotated[Solver, typer.Option("--solver", help="The method.")] = Solver.auto,
    balanced: Annotated[bool, typer.Option("--balanced", help="Give every class the same total weight.")] = False,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", help="Regression: errors up to epsilon cost nothing.")
    ] = None,
    kernel: Annotated[Kernel | None, typer.Option("--kernel", help="Train a kernel model.")] = None,
    gamma: Annotated[str | None, typer.Option("--gamma", help="Of the kernel: a number, scale or auto.")] = None,
    degree: Annotated[float | None, typer.Option("--degree", help="Of the poly kernel.")] = None,
    coef0: Annotated[float | None, typer.Option("--coef0", help="Of the poly and sigmoid kernels.")] = None,
    allowed: Annotated[
        str | None, typer.Option("--allowed", help="Sequences: BIO, IOB2 or IOBES forbids other steps.")
    ] = None,
    max_epochs: Annotated[float | None, typer.Option("--max-epochs", help="Stop after so many passes.")] = None,
    max_time: Annotated[float | None, typer.Option("--max-time", help="Stop after so many seconds.")] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, max=2**32 - 1, help="Seed of the order of the rows.")
    ] = None,
    test: Annotated[str | None, typer.Option("--test", help="Rows to try the model on.")] = None,
    sparse: Annotated[bool, typer.Option("--sparse", help="Write only the weights that are not zero.")] = False,
    format: Annotated[Format, typer.Option("--format", help="Format of the model file.")] = Format.pegasos,
    checkpoint: Annotated[
        str | None, typer.Option("--checkpoint", help="Keep the state of the fit in this file.")
    ] = None,
    every: Annotated[float, typer.Option("--every", min=0, help="Seconds between two checkpoints.")] = 30.0,
    resume: Annotated[str | None, typer.Option("--resume", help="Go on from this checkpoint, as it was begun.")] = None,
    memory: Memory = None,
    rows: RowFormat = None,
    target: Target = None,
    skip_bad: SkipBad = 0,
    threads: Threads = 1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a model on a file of rows, and write it to a file.

    Exit code 0: the model has converged, or was asked to stop earlier. 2: bad usage. 3: bad input. 4: not converged.
    """
    from .sequences import is_conll
    from .training import Training, train

    if resume is not None:
        raise typer.Exit(_go_on(ctx, resume, model, threads, max_time, json, quiet))
    check_training(data, model, test, checkpoint, sparse, format.value)
    assert data is not None and model is not None  # noqa: PT018  # or it would have been refused
    given = {
        "lam": lam, "tol": tol, "solver": solver.value, "n_jobs": threads, "loss": loss and loss.value,
        "bias": bias and bias.value, "class_weight": "balanced" if balanced else None, "epsilon": epsilon,
        "gamma": number_or_word(gamma), "degree": degree, "coef0": coef0, "allowed": allowed, "max_epochs": max_epochs,
        "max_time": max_time, "random_state": seed,
    }  # fmt: skip
    if epsilon is not None and loss is None:
        given["loss"] = "epsilon_insensitive"
    job = Training(
        source=_source(data, rows, target, skip_bad, threads),
        model=model,
        options={name: value for name, value in given.items() if value is not None},
        kernel=kernel and kernel.value,
        sequences=rows is Rows.conll or (rows is None and is_conll(data)),
        test=test,
        sparse=sparse,
        format=format.value,
        checkpoint=checkpoint,
        every=every,
        memory=memory,
        limits=tuple(name for name in ("max_epochs", "max_time") if given[name] is not None),
    )
    raise typer.Exit(train(job, json, quiet))


def _go_on(
    ctx: typer.Context, resume: str, model: str | None, threads: int, max_time: float | None, json: bool, quiet: bool
) -> int:
    """Train from a checkpoint; the exit code."""
    from .screen import guarded
    from .training import resumed, train

    said = [name for name in ctx.params if (how := ctx.get_parameter_source(name)) and how.name == "COMMANDLINE"]
    if set(said) - {"resume", "model", "threads", "max_time", "json", "quiet"}:
        raise typer.BadParameter(
            "--resume goes on with the rows and the options of the checkpoint; only -j, --max-time, -m, --json and "
            "--quiet may be given beside it."
        )
    with guarded(quiet):
        job = resumed(resume, threads if "threads" in said else None, max_time, model)
    check_model(job.model, job.source.path, job.test, job.checkpoint)
    return train(job, json, quiet)


@app.command()
def predict(
    model: ModelFile,
    data: Data,
    output: Output = "-",
    scores: Annotated[
        bool, typer.Option("--scores", help="Scores in place of labels, in the order of the classes.")
    ] = False,
    proba: Annotated[bool, typer.Option("--proba", help="Probabilities, for the losses that have them.")] = False,
    rows: RowFormat = None,
    target: Target = None,
    skip_bad: SkipBad = 0,
    threads: Threads = 1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write what a model says about each row, a line each."""
    from .scoring import predict

    if scores and proba:
        raise typer.BadParameter("--scores and --proba are two answers; ask for one of them.")
    refuse_over(output, model, data)
    refuse_both(model, data)
    what = "scores" if scores else "probabilities" if proba else "labels"
    predict(model, _source(data, rows, target, skip_bad, threads), output, what, json, quiet)


@app.command()
def evaluate(
    model: ModelFile,
    data: Data,
    rows: RowFormat = None,
    target: Target = None,
    skip_bad: SkipBad = 0,
    threads: Threads = 1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare a model with the labels of a file: accuracy, confusion, AUC, F1, objective; regression: MAE, R2."""
    from .judging import evaluate

    refuse_both(model, data)
    evaluate(model, _source(data, rows, target, skip_bad, threads), json, quiet)


@app.command()
def tag(model: ModelFile, data: Data, output: Output = "-", quiet: Quiet = False) -> None:
    """Label sequences in the CoNLL column format: the lines of the file, each with a further column."""
    from .scoring import tag

    refuse_over(output, model, data)
    refuse_both(model, data, "sentences")
    tag(model, data, output, quiet)


@app.command()
def info(
    file: Annotated[str, typer.Argument(help="A model, or a file of rows.", metavar="FILE")],
    top: Annotated[int, typer.Option("--top", help="How many of the largest weights are listed for each class.")] = 10,
    rows: RowFormat = None,
    target: Target = None,
    skip_bad: SkipBad = 0,
    threads: Threads = 1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say what is in a model or in a file of rows."""
    from .describing import info

    info(_source(file, rows, target, skip_bad, threads), top, json, quiet)


@app.command()
def convert(
    file: Annotated[str, typer.Argument(help="A model, or a file of rows.", metavar="FILE")],
    output: Annotated[str, typer.Argument(help="What to write.", metavar="OUTPUT")],
    format: Annotated[
        Format | None, typer.Option("--format", help="Of a model; by the name of OUTPUT if not given.")
    ] = None,
    rows: RowFormat = None,
    target: Target = None,
    skip_bad: SkipBad = 0,
    threads: Threads = 1,
    keep_order: Annotated[
        bool, typer.Option("--keep-order", help="To .pegasos: leave the rows in their order, do not shuffle them.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", help="To .pegasos: seed of the order.")] = 0,
    memory: Memory = None,
    float32: Annotated[bool, typer.Option("--float32", help="To .pegasos: numbers of 4 bytes instead of 8.")] = False,
    quiet: Quiet = False,
) -> None:
    """Write a model or a file of rows in another format.

    OUTPUT that ends in .pegasos: rows to train from without loading them. In .svm: text. Models: .safetensors,
    .liblinear, .onnx.
    """
    from .converting import Order, convert

    refuse_over(output, file)
    order = Order(keep_order, seed, memory, float32)
    convert(_source(file, rows, target, skip_bad, threads), output, format and format.value, order, quiet)


def _version(asked: bool) -> None:
    if asked:
        import pegasos

        print(f"pegasos {pegasos.__version__}")
        raise typer.Exit


@app.callback()
def everything(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Train support vector machines from files, and know how good the answer is."""
