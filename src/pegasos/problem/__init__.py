"""What is to be solved: rows at the door, labels, weights, targets, and the Problem they make."""
