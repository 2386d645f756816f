import * as t from 'io-ts';
import { DemoError } from './demo-error.ts';
import type { PlatformClient } from './platform-client.ts';

const Me = t.type({ keyType: t.string, projectId: t.string });

/**
 * It must hold only the resources of its first start.
 * @param client with an admin key
 * @throws DemoError
 */
export async function refuseUsedPlatform(client: PlatformClient): Promise<void> {
  const { keyType, projectId } = await client.get('/v1/me', Me);
  if (keyType !== 'admin') throw new DemoError(`An admin key is needed; this is a ${keyType} key.`);
  const made = [
    ['organizations', '/v1/organizations', 1],
    ['projects', '/v1/projects', 1],
    ['keys', `/v1/projects/${projectId}/keys`, 1],
    ['flows', `/v1/projects/${projectId}/flows`, 0],
    ['phoneNumbers', `/v1/projects/${projectId}/phone-numbers`, 0],
    ['agentProfiles', `/v1/projects/${projectId}/agent-profiles`, 0],
    ['templates', '/v1/templates', 0],
  ] as const;
  for (const [list, path, atFirst] of made) {
    const answer = await client.get(path, t.record(t.string, t.unknown));
    const items = answer[list];
    if (!Array.isArray(items)) throw new DemoError(`GET ${path} answered without ${list}.`);
    if (items.length <= atFirst) continue;
    throw new DemoError(
      `There is something on this platform already (${items.length} at ${path}), and a demo is not mixed with it. Use ` +
        'one that nobody has used yet; without --url the demo starts its own.',
    );
  }
}
