import type { RelatedStateLoader } from '#application/commands/command.ts';
import type { RequestedFlow } from '#domain/agent-profile/agent-profile.ts';
import { isCuid } from '#domain/codecs/id.ts';
import { flow } from '#domain/flow/flow.ts';
import { inTurns } from '#shared/async/in-turns.ts';

/**
 * Each flow once, up to the first that does not exist. A body may name thousands, so other requests are served in
 * between.
 */
export async function loadRequestedFlows(
  flowIds: ReadonlyArray<string>,
  load: RelatedStateLoader['load'],
): Promise<RequestedFlow[]> {
  const requested: RequestedFlow[] = [];
  for await (const id of inTurns(new Set(flowIds))) {
    const state = isCuid(id) ? (await load(flow, id)).state : null;
    requested.push({ id, state });
    if (state === null) return requested;
  }
  return requested;
}
