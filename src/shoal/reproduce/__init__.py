"""The experiments of the five works that Shoal was made from, run anew: one page of figures for each."""
