"""Verbs of the library with typed options and results: solve, respond, refine, exploit, train, match, play, …"""
