import { EventStoreDBClient, excludeSystemEvents, START } from '@eventstore/db-client';

/**
 * Measures the events per second that the bare client's `$all` subscription gets from the start of the log and ignores.
 * @param events the number of events in the log
 * @throws Error when they do not arrive in time
 */
export async function readAllPerSecond(url: string, events: number, timeoutMs: number): Promise<number> {
  const client = EventStoreDBClient.connectionString(url);
  const started = performance.now();
  const subscription = client.subscribeToAll({ fromPosition: START, filter: excludeSystemEvents() });
  const timer = setTimeout(() => subscription.destroy(new Error('The log did not come.')), timeoutMs);
  try {
    let left = events;
    for await (const { event } of subscription) {
      if (event !== undefined) left -= 1;
      if (left <= 0) break;
    }
    return (events / (performance.now() - started)) * 1_000;
  } finally {
    clearTimeout(timer);
    await client.dispose();
  }
}
