import assert from 'node:assert/strict';
import { Admission } from '#exchange/admission.ts';
import { Held } from '#exchange/held.ts';
import { createMetrics } from '#http/routes/metrics.ts';
import { createMetricsApp } from '#http/server/app.ts';
import { listen } from '#http/server/server.ts';
import { eventually } from '#test/support/run/eventually.ts';

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

  it('shows for each limit what is taken, who waits, who was refused, and the limit', async () => {
    const metrics = createMetrics();
    const limits = { slots: { page: { maxSlots: 1, maxWaitMs: 1 } }, bytes: { body: { maxBytes: 10 } } };
    const admission = new Admission({ limits });
    metrics.watchLimits(() => admission.figures());
    const held = new Held('project1');
    await admission.slot(held, 'page');
    await admission.slot(held, 'page');
    admission.budgets.body.hold('project1').take(7);
    admission.rooms['live feed'].take('project1');
    const waiting = admission.slot(new Held('project2'), 'page');
    const text = await metrics.text();
    held.release();
    await waiting;
    metrics.close();
    for (const line of [
      'switchyard_limit_taken{name="page"} 1',
      'switchyard_limit_waiting{name="page"} 1',
      'switchyard_limit_refused_total{name="page"} 1',
      'switchyard_limit_max{name="page"} 1',
      'switchyard_limit_taken{name="body"} 7',
      'switchyard_limit_max{name="body"} 10',
      'switchyard_limit_taken{name="live feed"} 1',
    ])
      assert.ok(text.includes(`${line}\n`), `${line} is missing`);
    assert.ok(!text.includes('switchyard_limit_max{name="completion"}'), 'a limit of the node that does not exist');
  });

  it('shows the connections of a server, and those that it has refused', async () => {
    const metrics = createMetrics();
    const refused = { 'all-taken': 3, 'no-head': 2, 'no-place': 0, idle: 0, 'body-ended': 1, 'body-slow': 0 };
    metrics.watchConnections(() => ({ open: 7, withoutHead: 4, arrivingBodies: 5, refused }));
    const text = await metrics.text();
    metrics.close();
    for (const line of [
      'switchyard_connections 7',
      'switchyard_connections_without_head 4',
      'switchyard_arriving_bodies 5',
      'switchyard_connections_refused_total{reason="all-taken"} 3',
      'switchyard_connections_refused_total{reason="body-ended"} 1',
    ])
      assert.ok(text.includes(`${line}\n`), `${line} is missing`);
  });
});

describe('GET /metrics', () => {
  it('is answered with 503 when it takes too long, and made again for the next who asks', async () => {
    const metrics = createMetrics();
    let made = 0;
    metrics.watchProjections(async () => {
      made += 1;
      return made === 1 ? new Promise<never>(() => undefined) : [];
    });
    const server = await listen(createMetricsApp(metrics), { host: '127.0.0.1', port: 0 });
    const ask = async () => (await fetch(`http://127.0.0.1:${server.port}/metrics`)).status;
    try {
      assert.deepEqual([await ask(), await ask()], [503, 200]);
    } finally {
      await server.stop();
      metrics.close();
    }
  });

  it('is made once for all who ask at the same time', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let made = 0;
    const metrics = createMetrics();
    metrics.watchProjections(async () => {
      made += 1;
      await released;
      return [];
    });
    const server = await listen(createMetricsApp(metrics), { host: '127.0.0.1', port: 0 });
    const ask = async () => (await fetch(`http://127.0.0.1:${server.port}/metrics`)).status;
    try {
      const all = Promise.all(Array.from({ length: 20 }, ask));
      const { open, withoutHead } = await eventually(() => {
        const figures = server.connectionFigures();
        return figures.open === 20 && figures.withoutHead === 0 ? figures : null;
      }, 'all have asked');
      assert.deepEqual([open, withoutHead, made], [20, 0, 1]);
      release();
      assert.deepEqual([...new Set(await all)], [200]);
      assert.deepEqual([await ask(), made], [200, 2]);
    } finally {
      release();
      await server.stop();
      metrics.close();
    }
  });
});
