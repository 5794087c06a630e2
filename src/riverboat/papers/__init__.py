"""Reproductions of tables and figures of papers: one module for each, our results next to the printed ones."""
