import assert from 'node:assert/strict';
import { poll } from '#test/support/run/poll.ts';
import type { Client } from '#test/support/service/client.ts';
import { expectStatus } from './expect.ts';

/** The limit of a wait. It only keeps a test from hanging. */
const maxRebuildMs = 60_000;

interface Projection {
  readonly name: string;
  readonly begunAt: number;
  readonly rebuild: object | null;
}

/** Rebuilds a projection, and waits until queries read its new documents. Requires a client with an admin key. */
export async function rebuildProjection(client: Client, name: string): Promise<void> {
  const projection = async () => {
    const reply = await client.get<{ projections: Projection[] }>('/v1/projections');
    const found = expectStatus(reply, 200).projections.find((one) => one.name === name);
    assert.ok(found !== undefined, `there is no projection ${name}`);
    return found;
  };
  const { begunAt } = await projection();
  expectStatus(await client.post(`/v1/projections/${name}/rebuild`), 200);
  const done = await poll(async () => {
    const now = await projection();
    return now.rebuild === null && now.begunAt > begunAt;
  }, maxRebuildMs);
  assert.ok(done, `the rebuild of ${name} does not end`);
}
