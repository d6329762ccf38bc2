"""Gönen, Alpaydın, "Localized Multiple Kernel Regression", 2010."""
