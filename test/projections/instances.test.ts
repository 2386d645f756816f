import assert from 'node:assert/strict';
import { instanceRecord } from '#domain/instance/answer.ts';
import { instance } from '#domain/instance/instance.ts';
import { type InstanceDocument, instances } from '#projections/instances.ts';
import {
  activeInstance,
  ended,
  instanceCreated,
  instanceDeleted,
  progressed,
  targetOf,
  upgradeRequested,
} from '#test/support/instance-events.ts';
import { foldTold, type ToldEvent } from '#test/support/recorded.ts';
import { shown } from '#test/support/shown.ts';
import { ids, tenants } from '#test/support/story.ts';

const documents = (...events: ReadonlyArray<ToldEvent>) =>
  shown(instances, { [`instance-${ids.instance}`]: events }) as Readonly<Record<string, InstanceDocument>>;

describe('instances projection', () => {
  it('shows an instance as decisions see it, from its creation on', () => {
    const upgrading = [...activeInstance(), upgradeRequested(2, targetOf(2, {}, targetOf(1))), progressed(2, 2)];
    for (const events of [[instanceCreated()], activeInstance(), upgrading]) {
      const { state } = foldTold(instance, events);
      const revision = events.length - 1;
      assert.deepEqual(documents(...events), {
        [ids.instance]: { ...tenants.project, revision, position: revision + 1, state },
      });
      const document = documents(...events)[ids.instance];
      assert.ok(document);
      assert.deepEqual(instanceRecord(document.state), instanceRecord(state));
    }
  });

  it('shows no deleted one, whatever is still done about it', () => {
    assert.deepEqual(documents(...activeInstance(), instanceDeleted(2)), {});
    assert.deepEqual(documents(...activeInstance(), instanceDeleted(2), progressed(2, 4), ended(2)), {});
  });
});
