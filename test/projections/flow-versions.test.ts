import assert from 'node:assert/strict';
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
import { type ToldEvent, timeOf } from '#test/support/harness/recorded-events.ts';

const of = (...events: ReadonlyArray<ToldEvent>) => projectStreams(flowVersions, { [`flow-${ids.flow}`]: events });
const version = (number: number, change: object, created: number, updated = created) => ({
  [versionOf(ids.flow, number)]: {
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
  it('shows a version, active or not', () => {
    assert.deepEqual(of(...begunFlow(), versionCreated(2)), {
      ...version(1, { isActive: true }, 1, 2),
      ...version(2, {}, 3),
    });
  });

  it('shows one active version after another was activated', () => {
    assert.deepEqual(of(...begunFlow(), versionCreated(2), versionActivated(2, 1)), {
      ...version(1, {}, 1, 4),
      ...version(2, { isActive: true }, 3, 4),
    });
  });

  it('shows a tag', () => {
    const tagged = newEvent('FlowVersionTagged', { id: versionOf(ids.flow, 1), flowId: ids.flow, tag: 'winter' });
    assert.deepEqual(of(...begunFlow(), tagged), version(1, { isActive: true, tag: 'winter' }, 1, 3));
  });

  it('shows no deleted version', () => {
    assert.deepEqual(of(...begunFlow(), versionCreated(2), versionDeleted(2)), version(1, { isActive: true }, 1, 2));
  });

  it("shows none of a deleted flow, and all of another's", () => {
    const other = projectStreams(flowVersions, { [`flow-${ids.otherFlow}`]: begunFlow({ id: ids.otherFlow }) });
    assert.equal(Object.keys(other).length, 1);
    const both = projectStreams(flowVersions, {
      [`flow-${ids.otherFlow}`]: begunFlow({ id: ids.otherFlow }),
      [`flow-${ids.flow}`]: [...begunFlow(), versionCreated(2), versionCreated(3), flowDeleted()],
    });
    assert.deepEqual(both, other);
  });
});
