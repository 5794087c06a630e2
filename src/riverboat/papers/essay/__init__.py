"""An essay on counterfactual regret minimization: its worked examples."""
