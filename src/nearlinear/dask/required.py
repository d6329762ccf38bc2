"""Dask, or one sentence that says what to install."""

try:
    import cloudpickle
    import dask
    import dask.array
    import dask.dataframe
    import distributed
except ImportError as error:
    raise ImportError(
        f"nearlinear.dask needs Dask ({error}): pip install 'nearlinear[dask]'."
    ) from error

__all__ = ["cloudpickle", "dask", "distributed"]
