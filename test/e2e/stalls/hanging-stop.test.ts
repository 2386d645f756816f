import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { long } from '#test/support/run/long.ts';
import { describeOnFerretDb } from '#test/support/service/ferretdb.ts';
import { FaultyNodes } from './faulty-nodes.ts';

/** The limit of a stop, and the time of a busy machine. */
const maxStopMs = 5_000 + 2_000;
/** In this time calls of the frozen store begin that hang when the node stops. */
const hangMs = 300;
const lastLine = /"msg":"stopped(, but what is named has not ended and is left)?"/g;

describeOnFerretDb('a stop', (ferret) => {
  it(`ends within its 5 s, with one line, while a frozen MongoDB lets work hang ${long}`, async function () {
    this.timeout(180_000);
    const nodes = await FaultyNodes.start(ferret, 1);
    try {
      const [{ service } = assert.fail()] = nodes.live;
      ferret.freeze();
      await sleep(hangMs);
      const { code, milliseconds } = await service.stop();
      assert.equal(code, 0, service.stderr);
      assert.ok(milliseconds < maxStopMs, `${milliseconds} ms`);
      const lines = service.stdout.match(lastLine) ?? [];
      assert.equal(lines.length, 1, service.stdout);
    } finally {
      ferret.thaw();
      await nodes.end();
    }
  });
});
