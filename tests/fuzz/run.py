"""Fuzzes one reader: `python -m tests.fuzz.run .onnx --seconds 600`.

Damaged files are loaded, optimised and, where small, converted to C in a child process that a watchdog observes: a
traceback that is no typed error, `MAX_SECONDS` for a file or `MAX_BYTES` of memory is a finding. The seed of each is
printed; `--seed N` runs that one alone.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import resource
import sys
import tempfile
import time
import traceback
import warnings
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from tests.fuzz.corpus import SEEDS
from tests.fuzz.mutate import damage
from tinydeploy import pipeline
from tinydeploy.errors import BoardError, InputError, UnsupportedError

MAX_SECONDS = 10.0
MAX_BYTES = 1 << 30
SMALL_MACS = 200_000


def attempt(path: Path) -> None:
    """Read a file and take it as far as it goes; typed errors are the only way out."""
    try:
        graph = pipeline.load(path)
        optimised = pipeline.optimise(graph)
        elements = sum(value.type.size for value in optimised.values.values())
        if pipeline.count_macs(optimised) < SMALL_MACS and elements < SMALL_MACS:
            level = "int8" if optimised.is_quantised() else "float32"
            options = pipeline.ConvertOptions(quantize=level, check=False, name="model")
            pipeline.compile_graph(optimised, optimised, options, None)
    except (InputError, UnsupportedError, BoardError):
        return


def _child(suffix: str, seeds: list[bytes], start: int, pipe: Connection) -> None:
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    limit = base * 1024 + MAX_BYTES * 4  # address space is more than memory
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    with tempfile.TemporaryDirectory(prefix="td-fuzz-") as scratch:
        path = Path(scratch) / f"model{suffix}"
        for seed in range(start, sys.maxsize):
            rng = random.Random(seed)
            path.write_bytes(damage(suffix, rng.choice(seeds), rng))
            pipe.send((seed, ""))
            try:
                attempt(path)
            except BaseException:
                pipe.send((seed, traceback.format_exc()))
            if (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base) * 1024 > MAX_BYTES:
                pipe.send((seed, f"takes more than {MAX_BYTES} bytes"))
                return


def campaign(
    suffix: str, seconds: float, start: int = 0, most: int = 20, tries: int = sys.maxsize
) -> tuple[int, list[tuple[int, str]]]:
    """Fuzz for so many seconds, ``tries`` files or ``most`` findings: (files tried, [(seed, what happened)])."""
    seeds = SEEDS[suffix]()
    context = multiprocessing.get_context("fork")
    findings: list[tuple[int, str]] = []
    end, seed = time.monotonic() + seconds, start

    def goes_on() -> bool:
        return time.monotonic() < end and len(findings) < most and seed - start < tries

    while goes_on():
        ours, theirs = context.Pipe(duplex=False)
        child = context.Process(target=_child, args=(suffix, seeds, seed, theirs), daemon=True)
        child.start()
        theirs.close()
        while goes_on():
            if not ours.poll(MAX_SECONDS):
                findings.append((seed, f"takes longer than {MAX_SECONDS} s"))
                break
            try:
                seed, fault = ours.recv()
            except EOFError:
                if not findings or findings[-1][0] != seed:
                    findings.append((seed, "the process died"))
                break
            if fault:
                findings.append((seed, fault))
        child.kill()
        child.join()
        seed += 1
    return seed - start, findings


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suffix", choices=sorted(SEEDS))
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="run this one alone, in this process")
    parser.add_argument("--keep", type=Path, help="with --seed: write the damaged file here")
    arguments = parser.parse_args()
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    if arguments.seed is not None:
        rng = random.Random(arguments.seed)
        data = damage(arguments.suffix, rng.choice(SEEDS[arguments.suffix]()), rng)
        path = arguments.keep or Path(tempfile.mkdtemp()) / f"model{arguments.suffix}"
        path.write_bytes(data)
        attempt(path)
        return 0
    tried, findings = campaign(arguments.suffix, arguments.seconds, arguments.start)
    for seed, what in findings:
        print(f"--- seed {seed}\n{what}")
    print(f"{arguments.suffix}: {tried:,} damaged files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
