"""What local forests are made of."""
