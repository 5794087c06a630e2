"""All CUDA code: betting × boards, sampling and clustering on a GPU."""
