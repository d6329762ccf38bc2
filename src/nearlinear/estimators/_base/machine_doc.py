"""What regressors say alike."""

EPSILON = """
    epsilon : float, default=0.1
        Errors up to this size are free. C and epsilon are in units of the values' spread, since
        the machine learns (y − center) / spread: they mean the same whether y is in dollars or in
        millions. For a tube e and a weight c in y's own unit, as other machines take them, give
        epsilon = e / np.std(y) and C = c / np.std(y); exact is to divide by ``target_spread_``."""
TARGET_SPREAD = """target_spread_ : float
        The spread of the training values: their standard deviation, where values more than three
        interquartile ranges beyond the quartiles count as if they lay there. ``objective_`` and
        ``duality_gap_`` are in units of its square.
    """
