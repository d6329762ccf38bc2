"""A fit of a method that streams to rows in partitions."""

from .._sklearn import fit_context
from ..estimators._base.blocks.fit import fit_surveyed
from .rounds import PartitionRows
from .survey import surveyed_partitions


@fit_context(prefer_skip_nested_validation=True)
def fit_partitions(model, parts, tasks, per_round, log, checkpoint=None, every=60.0):
    """Fit ``model`` to futures of blocks; ``log`` gets the bytes of each round."""

    def survey(seed):
        rows = surveyed_partitions(model, parts, tasks, seed)
        return PartitionRows(rows, parts, tasks, per_round, log)

    return fit_surveyed(model, survey, checkpoint, every)
