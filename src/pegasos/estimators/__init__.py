"""What users fit: classifiers and regressors, linear and kernel, behind scikit-learn's interface."""
