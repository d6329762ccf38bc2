"""What comes before a model: scikit-learn's transformers as one table."""
