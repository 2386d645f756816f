import assert from 'node:assert/strict';
import { createMetrics } from '#http/routes/metrics.ts';

describe('createMetrics', () => {
  it('counts commands of MongoDB by command and outcome, and their time by command', async () => {
    const metrics = createMetrics();
    metrics.mongoDbCommand({ command: 'find', outcome: 'succeeded', milliseconds: 2 });
    metrics.mongoDbCommand({ command: 'find', outcome: 'failed', milliseconds: 40 });
    const text = await metrics.text();
    metrics.close();
    for (const line of [
      'switchyard_mongodb_commands_total{command="find",outcome="succeeded"} 1',
      'switchyard_mongodb_commands_total{command="find",outcome="failed"} 1',
      'switchyard_mongodb_command_duration_seconds_bucket{le="0.0025",command="find"} 1',
      'switchyard_mongodb_command_duration_seconds_count{command="find"} 2',
    ])
      assert.ok(text.includes(`${line}\n`), `${line} is missing`);
  });
});
