"""How a locally linear kernel fades with distance: four profiles h.

With u = γr (exponential, linear) or u = γr² (gaussian, square), h is exp(−u) or (1 − u)₊.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Profile:
    """One way to fade; ``is_bounded`` profiles are exactly zero beyond u = 1.

    ``reach`` is how many typical distances a profile of relative bandwidth one spans: bounded
    profiles are drawn twice as wide, so that they cover what the others do.
    """

    name: str
    is_bounded: bool
    of_root: bool

    @property
    def reach(self):
        return 2.0 if self.is_bounded else 1.0

    def exponents(self, squares, gamma):
        """u for squared distances; a new array."""
        return (np.sqrt(squares) if self.of_root else squares) * gamma

    def values(self, squares, gamma):
        """h for squared distances; a new array."""
        u = self.exponents(squares, gamma)
        if self.is_bounded:
            np.subtract(1.0, u, out=u)
            return np.maximum(u, 0.0, out=u)
        np.negative(u, out=u)
        return np.exp(u, out=u)

    def slopes(self, u, values):
        """dh/du."""
        return -(u < 1.0).astype(u.dtype) if self.is_bounded else -values

    def gamma(self, bandwidth, squared_distance):
        """γ for a bandwidth relative to the typical squared distance."""
        scale = np.sqrt(squared_distance) if self.of_root else squared_distance
        return bandwidth / (self.reach * scale)


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("exponential", is_bounded=False, of_root=True),
        Profile("gaussian", is_bounded=False, of_root=False),
        Profile("linear", is_bounded=True, of_root=True),
        Profile("square", is_bounded=True, of_root=False),
    )
}
