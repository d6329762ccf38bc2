"""Pictures, in the style of scikit-learn's Display objects; matplotlib is imported on demand."""
