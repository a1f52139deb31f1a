"""The losses by name, their formulas in NumPy, costs, and losses of the user's own."""

from .named import CLASSIFICATION as CLASSIFICATION
from .named import JOINT as JOINT
from .named import NAMED as NAMED
from .named import REGRESSION as REGRESSION
from .named import all as all
from .named import bound_loss as bound_loss
from .named import spec_of as spec_of
from .spec import LossSpec as LossSpec
