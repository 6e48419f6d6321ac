"""Finds what a wrong value means, if only one meaning is possible. The result is advice in a
refusal; the call itself is not changed.
"""
