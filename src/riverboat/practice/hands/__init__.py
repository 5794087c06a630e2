"""Played hands of any table: results, statistics, preflop ranges, and reviews of heads-up pots."""
