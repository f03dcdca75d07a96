"""Number the figures and exercises of pages without chapter number: "Picture S.7".

Sphinx counts them through all such pages, so that a new figure would change numbers in parts that
have nothing to do with it. Here each part of the book counts its own, after its letter.
"""

from .markup import site


def letter_numbers(app, env):
    """Replace the numbers before writing, but after Sphinx has stored them for the next build."""
    before = {}  # of a part and a kind: how many stand before the part
    for page, kinds in env.toc_fignumbers.items():
        letters = {site()["parts"].get(folder) for folder in page.split("/")} - {None}
        for letter in letters:
            for kind, numbers in kinds.items():
                for name, (number,) in numbers.items():
                    start = before.setdefault((letter, kind), number - 1)
                    numbers[name] = letter, number - start


def setup(app):
    app.connect("env-check-consistency", letter_numbers)
