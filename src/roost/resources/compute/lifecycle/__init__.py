"""Instance actions.

What happens to an instance as a whole: rebuild, rescue, resize, clone.
"""
