"""What is asked of the explanation."""

from tests.api.samples.sample import Samples

SAMPLES = Samples({}, queries={"explain_request": "method=POST&path=/v4/compute/instances"})
