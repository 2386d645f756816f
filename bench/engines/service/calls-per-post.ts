import { callsPerSecond } from '#bench/measure.ts';
import { callsBetween, type EngineService } from './engine-service.ts';

/** The gRPC calls of a service for each successful `POST` of a version. */
export interface PostCalls {
  readonly posts: number;
  /** Appends and reads of streams. */
  readonly own: number;
  /** Reads of the log and of its end. All followers share one reader. */
  readonly pages: number;
  /** Subscriptions that were opened meanwhile, not for each `POST`. */
  readonly subscriptions: number;
}

/** Posts versions on some connections for a time, waits for every answer, and counts the calls. */
export async function callsPerPost(service: EngineService, connections: number, seconds: number): Promise<PostCalls> {
  const before = await service.calls();
  let answered = 0;
  await callsPerSecond(connections, seconds * 1_000, async (worker) => {
    await service.post(worker);
    answered += 1;
  });
  const calls = callsBetween(before, await service.calls());
  return {
    posts: answered,
    own: (calls.append + calls.stream + calls.other) / answered,
    pages: (calls.log + calls['log-end']) / answered,
    subscriptions: calls.subscription,
  };
}
