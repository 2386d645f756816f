import assert from 'node:assert/strict';
import type { FlowVersionRecord } from '#domain/flow/record.ts';
import { newEvent } from '#domain/shared/event.ts';
import { flowVersions } from '#projections/flow-versions.ts';
import {
  begunFlow,
  flowDeleted,
  versionActivated,
  versionCreated,
  versionDeleted,
  versionOf,
} from '#test/support/events/flow-events.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { projectStreams } from '#test/support/harness/projection-harness.ts';
import { type ExampleEvent, timeOf } from '#test/support/harness/recorded-events.ts';

const of = (...events: ReadonlyArray<ExampleEvent>) => projectStreams(flowVersions, { [`flow-${ids.flow}`]: events });
const version = (number: number, change: Partial<FlowVersionRecord>, created: number, updated = created) => ({
  [versionOf(ids.flow, number)]: {
    claims: change.isActive === true ? ids.flow : '',
    ...tenants.project,
    flowId: ids.flow,
    record: {
      ...versionCreated(number).data,
      isActive: false,
      createdAt: timeOf(created),
      updatedAt: timeOf(updated),
      ...change,
    },
  },
});

describe('flow versions projection', () => {
  it('shows each flow version as active or not', () => {
    assert.deepEqual(of(...begunFlow(), versionCreated(2)), {
      ...version(1, { isActive: true }, 1, 2),
      ...version(2, {}, 3),
    });
  });

  it('shows only one active flow version after another one was activated', () => {
    assert.deepEqual(of(...begunFlow(), versionCreated(2), versionActivated(2, 1)), {
      ...version(1, {}, 1, 4),
      ...version(2, { isActive: true }, 3, 4),
    });
  });

  it('shows the tag of a flow version', () => {
    const tagged = newEvent('FlowVersionTagged', { id: versionOf(ids.flow, 1), flowId: ids.flow, tag: 'winter' });
    assert.deepEqual(of(...begunFlow(), tagged), version(1, { isActive: true, tag: 'winter' }, 1, 3));
  });

  it('shows no deleted flow version', () => {
    assert.deepEqual(of(...begunFlow(), versionCreated(2), versionDeleted(2)), version(1, { isActive: true }, 1, 2));
  });

  it('shows no version of a deleted flow, and every version of the others', () => {
    const other = projectStreams(flowVersions, { [`flow-${ids.otherFlow}`]: begunFlow({ id: ids.otherFlow }) });
    assert.equal(Object.keys(other).length, 1);
    const both = projectStreams(flowVersions, {
      [`flow-${ids.otherFlow}`]: begunFlow({ id: ids.otherFlow }),
      [`flow-${ids.flow}`]: [...begunFlow(), versionCreated(2), versionCreated(3), flowDeleted()],
    });
    assert.deepEqual(both, other);
  });
});
