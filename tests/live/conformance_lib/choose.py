"""Chooses the cases of a run: filters, a sample by seed, a shard."""

import random
import re

from . import Problem


def pattern(text, option):
    """A regular expression of an option."""
    try:
        return re.compile(text)
    except re.error as error:
        raise Problem(f"{option} {text!r} is not a regular expression: {error}") from None


def shard(text):
    """I/N as two numbers, 1 <= I <= N."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise Problem(f"--shard {text}: use I/N with I from 1 to N, for example 1/4 to 4/4")
    return int(match[1]), int(match[2])


def select(names, include=None, exclude=None, seed=None, count=None, part="1/1"):
    """The cases of a run. The order is the same on each machine.

    The regular expressions may match a part of a name. A sample is drawn before it is divided, so
    the shards of a sample are parts of the same sample.
    """
    names = sorted(set(names))
    if include:
        wanted = pattern(include, "--include")
        names = [name for name in names if wanted.search(name)]
    if exclude:
        unwanted = pattern(exclude, "--exclude")
        names = [name for name in names if not unwanted.search(name)]
    if count is not None:
        # The order of a draw does not depend on its size: a larger sample contains a smaller one.
        random.Random(seed).shuffle(names)
        names = sorted(names[:count])
    index, total = shard(part)
    return names[index - 1::total]
