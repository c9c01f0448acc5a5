"""The lab: the operator's routes below `/lab`, which exist only with `roost serve --lab`."""
