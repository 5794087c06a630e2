"""Push or fold tournaments."""
