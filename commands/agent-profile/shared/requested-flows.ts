import type { RelatedStateLoader } from '#application/commands/command.ts';
import type { RequestedFlow } from '#domain/agent-profile/contents.ts';
import { isCuid } from '#domain/codecs/id.ts';
import { flow } from '#domain/flow/flow.ts';
import { inTurns } from '#shared/async/in-turns.ts';

/**
 * The flows that an agent profile is asked to take, each once, up to the first that cannot be one: a body may name
 * thousands, and others are served in between.
 */
export async function askedFlows(
  flowIds: ReadonlyArray<string>,
  load: RelatedStateLoader['load'],
): Promise<RequestedFlow[]> {
  const asked: RequestedFlow[] = [];
  for await (const id of inTurns(new Set(flowIds))) {
    const state = isCuid(id) ? (await load(flow, id)).state : null;
    asked.push({ id, state });
    if (state === null) return asked;
  }
  return asked;
}
