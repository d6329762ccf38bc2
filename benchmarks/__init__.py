"""How fast, how big, beside whom: each ``bench_*`` module measures in one run, as ratios."""
