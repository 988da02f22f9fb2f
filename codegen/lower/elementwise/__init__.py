"""What element-wise operators have in the place of a body."""
