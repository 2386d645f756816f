import { median, type Result } from '#bench/measure.ts';
import type { Client } from '#test/support/service/client.ts';
import { SharedEngines } from '#test/support/service/engines.ts';
import { startOwnMongoDb } from '#test/support/service/mongodb-server.ts';
import { Nodes, projectingNode } from '#test/support/service/nodes.ts';
import { poll } from '#test/support/service/service-process.ts';

const rounds = 5;
const timeoutMs = 30_000;

/**
 * Kills the node that runs the projections, beside a second such node, and writes immediately on a third node. Measures
 * the time from the kill until that write is visible.
 * @param eventStoreUrl of a server
 * @throws Error if MongoDB does not start, or no node takes over
 */
export async function takeover(eventStoreUrl: string): Promise<ReadonlyArray<Result>> {
  const mongoDb = await startOwnMongoDb();
  const engines = new SharedEngines(mongoDb, eventStoreUrl);
  const nodes = new Nodes(engines);
  try {
    await engines.start();
    const [control, ...projectors] = await Promise.all([
      nodes.start('control-plane'),
      nodes.start('projections'),
      nodes.start('projections'),
    ]);
    const seconds: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const holder = await poll(() => projectingNode(control.client, projectors), timeoutMs);
      if (holder === null) throw new Error('No node makes the read models.');
      const killed = performance.now();
      const gone = holder.kill();
      await readOwnWrite(control.client);
      seconds.push((performance.now() - killed) / 1_000);
      await gone;
      projectors.splice(projectors.indexOf(holder), 1, await nodes.start('projections'));
    }
    return [
      { what: 'another node takes over after kill -9', figure: median(seconds), unit: ' s', required: 5, aim: 2 },
      { what: `the slowest of ${rounds} times`, figure: Math.max(...seconds), unit: ' s', required: 5, aim: 2 },
    ];
  } finally {
    await nodes.end();
    await engines.stop();
    await mongoDb.dispose();
  }
}

async function readOwnWrite(client: Client): Promise<void> {
  const written = await client.post<{ id: string }>('/v1/projects', { name: 'Written after the kill' });
  if (written.status !== 201) throw new Error(`A write was answered by ${written.status}: ${written.text}`);
  const position = written.headers['switchyard-position'] ?? '';
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    const read = await client.get(`/v1/projects/${written.body.id}`, { 'switchyard-min-position': position });
    if (read.status === 200) return;
    if (read.status !== 503) throw new Error(`A read was answered by ${read.status}: ${read.text}`);
  }
  throw new Error('What was written is not read.');
}
