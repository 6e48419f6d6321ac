"""What a wrong value was meant as, where only one reading is left. Nothing is repaired by it: a
cure is advice.
"""
