"""Three tool providers for looking at web services: HTTP requests, missions, and a log of targets."""
