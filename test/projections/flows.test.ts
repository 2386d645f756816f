import assert from 'node:assert/strict';
import { newEvent } from '#domain/shared/event.ts';
import { flows } from '#projections/flows.ts';
import * as flowEvents from '#test/support/events/flow-events.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { projectStreams } from '#test/support/harness/projection-harness.ts';
import { type ExampleEvent, timeOf } from '#test/support/harness/recorded-events.ts';

const id = ids.flow;
const { begunFlow, flowCreated, flowDeleted, profileAssigned, versionActivated, versionCreated, versionDeleted } =
  flowEvents;
const of = (...events: ReadonlyArray<ExampleEvent>) => projectStreams(flows, { [`flow-${id}`]: events });
const document = (
  change: object,
  revision: number,
  agentProfileId: string | null = null,
  updated = revision,
  activeVersionId: string | null = null,
) => ({
  [id]: {
    ...tenants.project,
    revision,
    agentProfileId,
    activeVersionId,
    record: { ...flowCreated().data, agentProfileId, createdAt: timeOf(0), updatedAt: timeOf(updated), ...change },
  },
});

describe('flows projection', () => {
  it('shows a flow from its creation on', () => {
    assert.deepEqual(of(flowCreated()), document({}, 0));
  });

  it('shows each change of a flow with a new revision and updatedAt', () => {
    const changes = [
      [newEvent('FlowRenamed', { id, name: 'Nights' }), { name: 'Nights' }],
      [newEvent('FlowDescribed', { id, description: null }), { description: null }],
      [newEvent('FlowTypeChanged', { id, type: 'graph' }), { type: 'graph' }],
      [newEvent('FlowTierChanged', { id, tier: 'pro' }), { tier: 'pro' }],
    ] as const;
    for (const [event, change] of changes) assert.deepEqual(of(flowCreated(), event), document(change, 1));
    assert.deepEqual(of(flowCreated(), profileAssigned(ids.profile, null)), document({}, 1, ids.profile));
  });

  it('increases a flow’s revision with its versions, and keeps its updatedAt', () => {
    const events = [...begunFlow(), versionCreated(2), versionActivated(2, 1), versionDeleted(1)];
    const tagged = newEvent('FlowVersionTagged', { id: flowEvents.versionOf(id, 2), flowId: id, tag: 'winter' });
    assert.deepEqual(of(...events, tagged), document({}, 6, null, 0, flowEvents.versionOf(id, 2)));
  });

  it('shows no deleted flow', () => {
    assert.deepEqual(of(...begunFlow(), flowDeleted()), {});
  });
});
