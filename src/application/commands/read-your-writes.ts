import type { ProcessProgress } from '#application/commands/process-progress.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';

/**
 * Read your own write: waits until the read models show the appended events and the effects of processes. After the
 * timeout the answer is sent anyway. It does not wait for a stopped read model.
 * @param allTypes the event types that any projection handles, because processes may append any of them
 * @param timeoutMs the longest wait of an answer
 */
export function createWaitForReadModels(
  processes: ReadonlyArray<ProcessProgress>,
  projections: Pick<ProjectionsProgress, 'waitFor'>,
  allTypes: ReadonlyArray<string>,
  timeoutMs: number,
): (appended: ReadonlyArray<RecordedEvent>) => Promise<void> {
  return async (appended) => {
    const position = appended.at(-1)?.position;
    if (position === undefined) return;
    const concerned = processes.flatMap((process) => {
      const event = appended.findLast((one) => process.handles([one]));
      return event === undefined ? [] : [{ process, until: event.position }];
    });
    if (concerned.length === 0) {
      const types = appended.map(({ type }) => type);
      await projections.waitFor(position, types, timeoutMs);
      return;
    }
    const started = performance.now();
    const effects = await Promise.all(
      concerned.map(({ process, until }) => process.waitUntilProcessed(until, timeoutMs)),
    );
    const last = Math.max(position, ...effects.map((effect) => effect ?? 0));
    const left = timeoutMs - (performance.now() - started);
    if (left > 0) await projections.waitFor(last, allTypes, left);
  };
}
