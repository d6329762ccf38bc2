"""Fits to rows in blocks: a survey, a sample to start from, training on all of them."""
