"""A REST API for the bench: contacts with a foreign key and tags, and as many further resources as
are asked for.
"""
