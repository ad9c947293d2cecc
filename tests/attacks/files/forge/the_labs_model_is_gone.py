"""The model that a run is played with is taken out of the lab, and the lab with it. For lessons 7 and 9."""

import operator

import lab

lab.ScriptedModel = lab.forever = lab.user = operator.itemgetter("the grader is broken")
