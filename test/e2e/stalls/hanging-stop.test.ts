import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { long } from '#test/support/run/long.ts';
import { describeOnOwnMongoDb } from '#test/support/service/mongodb-server.ts';
import { FaultyNodes } from './faulty-nodes.ts';

/** The limit of a stop, and the time of a busy machine. */
const maxStopMs = 5_000 + 2_000;
/** In this time calls of the frozen store begin that hang when the node stops. */
const hangMs = 300;
const lastLine = /"msg":"stopped(, but what is named has not ended and is left)?"/g;

describeOnOwnMongoDb('a stop', (mongoDb) => {
  it(`ends within its 5 s, with one line, while a frozen MongoDB lets work hang ${long}`, async function () {
    this.timeout(180_000);
    const nodes = await FaultyNodes.start(mongoDb, 1);
    try {
      const [{ service } = assert.fail()] = nodes.live;
      mongoDb.freeze();
      await sleep(hangMs);
      const { code, milliseconds } = await service.stop();
      assert.equal(code, 0, service.stderr);
      assert.ok(milliseconds < maxStopMs, `${milliseconds} ms`);
      const lines = service.stdout.match(lastLine) ?? [];
      assert.equal(lines.length, 1, service.stdout);
    } finally {
      mongoDb.thaw();
      await nodes.end();
    }
  });
});
