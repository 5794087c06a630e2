"""Rules and betting of hold'em: actions, menus, action trees, public states, observations."""
