"""What `explain` and the pages of operators say."""
