"""The essay on counterfactual regret minimization."""
