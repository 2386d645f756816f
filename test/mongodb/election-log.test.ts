import assert from 'node:assert/strict';
import { ElectionLog } from '#mongodb/mongodb-availability.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

describe('ElectionLog', () => {
  let time: SimulatedTime;
  let lines: string[];
  let elections: ElectionLog;
  beforeEach(() => {
    time = new SimulatedTime(new Random(1)).install();
    lines = [];
    const log = {
      info: (_: object, message: string) => lines.push(`info ${message}`),
      warn: (_: object, message: string) => lines.push(`warn ${message}`),
      error: assert.fail,
    };
    elections = new ElectionLog(log);
  });
  afterEach(() => time[Symbol.dispose]());

  it('logs the beginning and the end once, also when some calls are answered meanwhile', async () => {
    for (let passed = 0; passed < 3_000; passed += 100) {
      elections.refused();
      elections.answered();
      await time.pass(100);
    }
    await time.pass(500);
    elections.answered();
    elections.answered();
    assert.deepEqual(lines, [
      'warn MongoDB refuses calls, because it has no primary; they are repeated until it has one',
      'info MongoDB has a primary again',
    ]);
  });

  it('logs nothing for refusals in less than 300 ms', async () => {
    elections.refused();
    await time.pass(200);
    elections.refused();
    await time.pass(600);
    elections.answered();
    elections.refused();
    assert.deepEqual(lines, []);
  });
});
