"""Leaves a mark in every object that could live on, and would see it in the next test."""

import builtins
import gc
import json
import os
import sys

import damaged
import lab

_places = [builtins, json, os, sys, gc, lab, lab.ScriptedModel, damaged]
for _place in _places:
    assert not hasattr(_place, "been_here"), _place
    _place.been_here = True
assert len(damaged.missing_result) == 4
damaged.missing_result.append({"role": "user", "content": "been here"})
os.environ["BEEN_HERE"] = "1"
sys.path.append("/been/here")
