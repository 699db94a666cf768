"""Linear algebra inside compiled loops."""
