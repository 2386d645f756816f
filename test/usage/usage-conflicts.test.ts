import assert from 'node:assert/strict';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { UsageRecorder } from '#usage/usage-recorder.ts';
import { callRecord } from './call-records.ts';

describe('usage whose stream another writer keeps changing', () => {
  it('is tried again at intervals, and recorded once', async () => {
    const store = new AppendableEventStore();
    const ignore = () => undefined;
    const log = { info: ignore, warn: ignore, error: ignore };
    let tries = 0;
    let isContended = true;
    store.beforeAppend = async () => {
      tries += 1;
      await new Promise((resolve) => setImmediate(resolve));
      return isContended ? { kind: 'conflict', actualRevision: -1 } : null;
    };
    const recorder = new UsageRecorder({ events: store, node: 'n1', log, storeIntervalMs: 100 });
    recorder.add([callRecord()]);
    await eventually(() => tries > 0, 'the first try');
    await new Promise((resolve) => setTimeout(resolve, 250));
    assert.ok(tries <= 10, `${tries} tries in a quarter of a second`);
    isContended = false;
    await eventually(() => store.log.length > 0, 'it is recorded');
    await recorder.close();
    assert.equal(store.log.length, 1);
  });
});
