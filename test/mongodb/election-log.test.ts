import assert from 'node:assert/strict';
import { ElectionLog } from '#mongodb/mongodb-availability.ts';

describe('ElectionLog', () => {
  let now: number;
  let lines: string[];
  let elections: ElectionLog;
  beforeEach(() => {
    now = 1_000;
    lines = [];
    const log = {
      info: (_: object, message: string) => lines.push(`info ${message}`),
      warn: (_: object, message: string) => lines.push(`warn ${message}`),
      error: assert.fail,
    };
    elections = new ElectionLog(log, () => now);
  });

  it('logs the beginning and the end once, also when some calls are answered meanwhile', () => {
    for (let time = 0; time < 3_000; time += 100) {
      elections.refused();
      elections.answered();
      now += 100;
    }
    now += 500;
    elections.answered();
    elections.answered();
    assert.deepEqual(lines, [
      'warn MongoDB refuses calls, because it has no primary; they are repeated until it has one',
      'info MongoDB has a primary again',
    ]);
  });

  it('logs nothing for refusals in less than 300 ms', () => {
    elections.refused();
    now += 200;
    elections.refused();
    now += 600;
    elections.answered();
    elections.refused();
    assert.deepEqual(lines, []);
  });
});
