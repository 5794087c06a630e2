"""What people read: plots."""
