"""Finds the meaning of a wrong value, if only one reading is left. A cure is advice in a refusal;
nothing is repaired.
"""
