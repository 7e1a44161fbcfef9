"""Values of hosts: what a later level needs to know of a `PlanHost`, whichever platform declares it."""

from __future__ import annotations

from alpha.evaluate.values import PolicyValue, Record, Variant


def policy_of(host: Record) -> str:
    """The symbol of the policy that the host runs."""
    policy = host.fields["policy"]
    assert isinstance(policy, PolicyValue)
    return policy.symbol


def target_of(host: Record) -> str:
    """The name of the target that the host's kernels are compiled for: `sm_86` where its architecture is `SM86`."""
    architecture = host.fields["architecture"]
    assert isinstance(architecture, Variant)
    name = architecture.name
    family = name.rstrip("0123456789")
    return f"{family.lower()}_{name[len(family) :]}"
