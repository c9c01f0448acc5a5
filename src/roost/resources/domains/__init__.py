"""DNS zones and their records, answered by the deployment's DNS engine."""
