import assert from 'node:assert/strict';
import { loadRequestedFlows } from '#commands/agent-profile/shared/requested-flows.ts';
import { begunFlow, flowDeleted } from '#test/support/events/flow-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { givenStreams } from '#test/support/harness/related-streams.ts';

const both = {
  [`flow-${ids.flow}`]: { events: begunFlow() },
  [`flow-${ids.otherFlow}`]: { events: begunFlow({ id: ids.otherFlow }) },
};

describe('loadRequestedFlows', () => {
  it('loads the requested flows in the order in which they are listed, each once', async () => {
    const { load, loaded } = givenStreams(both);
    const asked = await loadRequestedFlows([ids.otherFlow, ids.flow, ids.otherFlow, ids.flow], load);
    assert.deepEqual(
      asked.map(({ id, state }) => [id, state?.record.projectId]),
      [
        [ids.otherFlow, ids.project],
        [ids.flow, ids.project],
      ],
    );
    assert.deepEqual(loaded, [`flow-${ids.otherFlow}`, `flow-${ids.flow}`]);
  });

  it('stops loading at the first unknown flow', async () => {
    const { load, loaded } = givenStreams(both);
    const unknown = 'cnothing0was0ever0here00';
    const asked = await loadRequestedFlows([ids.flow, unknown, ids.otherFlow], load);
    assert.deepEqual(
      asked.map(({ id, state }) => [id, state !== null]),
      [
        [ids.flow, true],
        [unknown, false],
      ],
    );
    assert.deepEqual(loaded, [`flow-${ids.flow}`, `flow-${unknown}`]);
  });

  it('loads nothing for a text that is not an id', async () => {
    const { load, loaded } = givenStreams(both);
    assert.deepEqual(await loadRequestedFlows(['no id', ids.flow], load), [{ id: 'no id', state: null }]);
    assert.deepEqual(loaded, []);
  });

  it('returns a deleted flow with its state, so that the decision refuses it', async () => {
    const { load } = givenStreams({ [`flow-${ids.flow}`]: { events: [...begunFlow(), flowDeleted()] } });
    const [asked] = await loadRequestedFlows([ids.flow], load);
    assert.equal(asked?.state?.deleted, true);
  });

  it('yields to other requests after every fifty loads', async () => {
    const many = Array.from({ length: 120 }, (_, index) => `cflow${String(index).padStart(11, '0')}`);
    const { load, loaded } = givenStreams(
      Object.fromEntries(many.map((id) => [`flow-${id}`, { events: begunFlow({ id }) }])),
    );
    const seen: number[] = [];
    let done = false;
    const watch = () => {
      seen.push(loaded.length);
      if (!done) setImmediate(watch);
    };
    setImmediate(watch);
    await loadRequestedFlows(many, load);
    done = true;
    for (const count of [50, 100]) assert.ok(seen.includes(count), `seen after ${seen.join(', ')} loads`);
  });
});
