"""Algorithm 1: what is trained, watched, proposed and curated, round by round."""
