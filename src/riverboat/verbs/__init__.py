"""What users do: abstract, train, match, respond, play. Options with types in, results with types out; nothing is printed."""
