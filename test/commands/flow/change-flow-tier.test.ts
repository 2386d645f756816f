import assert from 'node:assert/strict';
import { changeFlowTier } from '#commands/flow/change-flow-tier.ts';
import { scopesOfKeyType } from '#domain/shared/access.ts';
import { newEvent } from '#domain/shared/event.ts';
import { begunFlow } from '#test/support/events/flow-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const id = ids.flow;
const toPro = newEvent('FlowTierChanged', { id, tier: 'pro' as const });

describe('change_flow_tier', () => {
  it('moves a flow to another tier', () => {
    givenHistory(...begunFlow())
      .when(changeFlowTier, { flowId: id, tier: 'pro' })
      .then(toPro);
  });

  it('moves a flow back to the standard tier', () => {
    givenHistory(...begunFlow(), toPro)
      .when(changeFlowTier, { flowId: id, tier: 'standard' })
      .then(newEvent('FlowTierChanged', { id, tier: 'standard' as const }));
  });

  it('changes nothing when the flow has the tier already', () => {
    givenHistory(...begunFlow())
      .when(changeFlowTier, { flowId: id, tier: 'standard' })
      .then();
    givenHistory(...begunFlow(), toPro)
      .when(changeFlowTier, { flowId: id, tier: 'pro' })
      .then();
  });

  it('requires a scope that only admin keys can have to change a tier', () => {
    const able = Object.entries(scopesOfKeyType).filter(([, scopes]) => scopes.has(changeFlowTier.access.scope));
    assert.deepEqual(
      able.map(([keyType]) => keyType),
      ['admin'],
    );
  });

  describe('input of change_flow_tier', () => {
    const of = inputOf(changeFlowTier, { flowId: id, tier: 'pro' });
    of.id('flowId');
    of.required('tier');
    of.choice('tier', ['standard', 'pro']);
  });
});
