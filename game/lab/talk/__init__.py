"""A score for talk: scenes played in a world of their own, questions asked, answers graded."""
