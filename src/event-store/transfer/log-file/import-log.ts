import type { StoredEvent } from '#event-store/event-store.ts';
import { isChained } from '#event-store/hash-chain.ts';
import { InterruptedError, LogError } from '#event-store/transfer/log-failure.ts';
import { eventsOf, type LogTarget, type RawEvent } from '#event-store/transfer/raw-log.ts';
import type { LogCheck, LogSummary } from './log-check.ts';
import { type ExportedEvent, readLogFile } from './log-file.ts';
import type { Report } from './progress.ts';

/** Number of events that are stored together, in one transaction if the target has transactions. */
const batchEvents = 2_000;
const batchCharacters = 2 * 1024 * 1024;

export interface LogFileSource {
  /** Names the file in messages. */
  readonly name: string;
  /** Opens the file. Each call begins at its first byte. */
  readonly open: () => AsyncIterable<Uint8Array>;
}

interface LogFileReadOptions {
  readonly source: LogFileSource;
  readonly check: LogCheck;
  readonly report: Report;
  readonly signal: AbortSignal;
}

export interface ImportOptions extends LogFileReadOptions {
  readonly target: LogTarget;
  /** The number of events; null if it is not known. */
  readonly events: number | null;
}

export interface ImportResult {
  /** The number of events that the target had already. */
  readonly held: number;
  readonly stored: number;
}

/** Checks lines, chains, contents of events, count and hash. @throws LogError, InterruptedError */
export async function checkLogFile({ source, check, report, signal }: LogFileReadOptions): Promise<LogSummary> {
  for await (const _events of passing({ source, check, signal })) report(check.events, null);
  return check.summary();
}

/**
 * Imports events in the file's order, and verifies each first. The target must be empty, or hold exactly the file's
 * first events, which stay unchanged. So an interrupted import is resumed by running it again, and a longer export of
 * the same log adds the new events.
 * @throws LogError when the file is invalid or the target holds other events; InterruptedError; UnavailableError
 */
export async function importLog(options: ImportOptions): Promise<ImportResult> {
  const { target, check, report, events } = options;
  const end = await target.lastPosition();
  const held = new HeldEvents(eventsOf(target, end));
  const revisions = new Revisions();
  let position = end;
  let stored = 0;
  let batch: StoredEvent[] = [];
  let characters = 0;
  const store = async () => {
    if (batch.length === 0) return;
    position = await target.store(batch);
    stored += batch.length;
    batch = [];
    characters = 0;
  };
  for await (const passed of passing(options)) {
    for (const { event } of passed) {
      const placed = revisions.place(event);
      if (await held.holds(placed)) continue;
      batch.push(placed);
      characters += event.data.length + event.metadata.length;
      if (batch.length >= batchEvents || characters >= batchCharacters) await store();
    }
    report(check.events, events === null ? null : check.events / events);
  }
  await store();
  if (stored > 0 && (await target.lastPosition()) !== position)
    throw new LogError(
      'Something else wrote to the target during the import, so their orders are mixed: stop what uses it, and import into an empty store.',
    );
  return { held: check.events - stored, stored };
}

/** Passes the events on and verifies each. At the end of the file it verifies their count and hash. */
async function* passing({
  source,
  check,
  signal,
}: Omit<LogFileReadOptions, 'report'>): AsyncGenerator<ReadonlyArray<ExportedEvent>, void, void> {
  const file = readLogFile(source.open(), source.name);
  try {
    for (;;) {
      const next = await file.next();
      if (next.done === true) return compare(next.value, check.summary(), source.name);
      for (const one of next.value) checkEvent(one, check, source.name);
      yield next.value;
      if (signal.aborted) throw new InterruptedError();
    }
  } catch (error) {
    // The interruption may have ended the reading side first, with another error.
    throw signal.aborted ? new InterruptedError() : error;
  } finally {
    await file.return(check.summary());
  }
}

/** @throws LogError that names the line */
function checkEvent({ event, line, number }: ExportedEvent, check: LogCheck, name: string): void {
  try {
    check.add(event, line);
  } catch (error) {
    if (error instanceof LogError) throw new LogError(`Line ${number} of ${name}: ${error.message}`);
    throw error;
  }
}

function compare(said: LogSummary, found: LogSummary, name: string): void {
  if (said.events !== found.events)
    throw new LogError(`${name} holds ${found.events} events, but was written with ${said.events}: export it again.`);
  if (said.sha256 !== found.sha256)
    throw new LogError(`${name} was changed since it was written (its hash differs): export it again.`);
}

/** The events that the target holds, compared with the file's events one by one. */
class HeldEvents {
  readonly #events: AsyncGenerator<RawEvent, void, void>;
  #ended = false;

  constructor(events: AsyncGenerator<RawEvent, void, void>) {
    this.#events = events;
  }

  /**
   * @returns whether the target's next event is this one; false if it has no more
   * @throws LogError for another event
   */
  async holds(event: StoredEvent): Promise<boolean> {
    if (this.#ended) return false;
    let { value: held } = await this.#events.next();
    // The log of the file may have archived metering since.
    while (held !== undefined && !isChained(held.stream) && !isSame(held, event))
      held = (await this.#events.next()).value;
    if (held === undefined) {
      this.#ended = true;
      return false;
    }
    if (isSame(held, event)) return true;
    throw new LogError(
      `The target holds another log: where the file has revision ${event.revision} of ${event.stream} (event ${event.id}), it has revision ${held.revision} of ${held.stream} (event ${held.id}). Import into an empty store.`,
    );
  }
}

function isSame(one: StoredEvent, other: StoredEvent): boolean {
  return (
    one.stream === other.stream &&
    one.revision === other.revision &&
    one.id === other.id &&
    one.type === other.type &&
    one.data === other.data &&
    one.metadata === other.metadata
  );
}

/**
 * Counts revisions. A stream without a chain may have lost its oldest events. The remaining ones count from 0 again.
 */
class Revisions {
  readonly #next = new Map<string, number>();

  place(event: StoredEvent): StoredEvent {
    if (isChained(event.stream)) return event;
    const revision = this.#next.get(event.stream) ?? 0;
    this.#next.set(event.stream, revision + 1);
    return revision === event.revision ? event : { ...event, revision };
  }
}
