"""Artifacts written by an earlier commit: files of users must open after every change."""
