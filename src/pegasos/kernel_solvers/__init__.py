"""The solvers of kernel problems, and the kernel matrix they look at."""
