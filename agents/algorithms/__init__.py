"""Named algorithms, one module per paper or family.

Every factory takes the published `setting` and `num_trials`, None for a single trial or B for a batch.
`delta` is the failure probability of its band, and `**options` are those of the model, see `ModelOptions`.
"""
