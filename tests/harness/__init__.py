"""What the generated tests do: they hold an operator's contract and samples, these modules hold the work."""
