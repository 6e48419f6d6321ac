"""How the contract suite makes tools of each framework and calls them."""
