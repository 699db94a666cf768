"""Drawing or estimating the parameters of a von Mises quasi-process.

`make_problem` says what is to be learned, `Learner` how; `vmqp.run.run_chains` runs it.
"""

from vmqp.learning.learner import Learner
from vmqp.learning.method import Method
from vmqp.learning.problem import Problem, make_problem

__all__ = ["Learner", "Method", "Problem", "make_problem"]
