"""Summaries: what older steps said, made from their originals, in place of the steps themselves."""
