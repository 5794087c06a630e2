"""Commands with their options, one module for each group; they load what they need when they run."""
