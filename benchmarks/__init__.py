"""Ratios measured in one run on one machine. ``python -m benchmarks`` runs all, or those that are named."""
