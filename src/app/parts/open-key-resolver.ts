import type { Runtime } from '#app/runtime.ts';
import { KeyFollower } from '#application/access/key-follower.ts';
import { KeyResolver } from '#application/access/key-resolver.ts';
import type { ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';
import { apiKeySecrets } from '#projections/access/api-key-secrets.ts';

/**
 * It reads a key's stream, and follows its changes: those of this node immediately, those of other nodes by the log.
 */
export function openKeyResolver(runtime: Runtime): KeyResolver {
  const { events: store, writer, projections, documents, keyUsage, tail, opened } = runtime;
  const follower = new KeyFollower({ tail, store, beginAfter: () => secretsKnownUpTo(projections) });
  const keys = new KeyResolver({ writer, follower, documents, usage: keyUsage });
  follower.listen(keys.see);
  writer.onAppended(keys.see);
  follower.start();
  opened.defer(() => follower.stop());
  return keys;
}

/** The read model contains every secret up to this position; null while no node has published it. */
function secretsKnownUpTo(projections: Pick<ProjectionsProgress, 'status'>): number | null {
  const status = projections.status().find(({ name }) => name === apiKeySecrets.name);
  if (status === undefined) return null;
  return status.ready ? status.position : status.begunAt;
}
