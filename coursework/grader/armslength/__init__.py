"""Makes and grades otter notebooks, with the tests at arm's length from what was handed in."""
