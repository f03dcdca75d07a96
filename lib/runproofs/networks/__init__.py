"""Networks with nonlinear units."""
