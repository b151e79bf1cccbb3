"""What families of methods share: points, centroids, free rows, weights, gathering."""
