import {
  maxRevision,
  metadataText,
  noLimits,
  parsedMetadata,
  type StreamLimits,
  type StreamMetadata,
  streamLimits,
} from './stream-limits.ts';

/** An event of an append, before it is stored. */
export interface ProposedEvent {
  /** A UUID in lower case. */
  readonly id: string;
  readonly type: string;
  readonly isJson: boolean;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

/** An event in the log. */
export interface LoggedEvent extends ProposedEvent {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: number;
  /** The position after its record. */
  readonly end: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** The expected state of a stream in an append or delete; a bigint is an exact revision. */
export type Expectation = bigint | 'any' | 'no-stream' | 'stream-exists';

export type Written =
  /** `position` is null for the repeat of an append whose stream was deleted since. */
  | { readonly kind: 'written'; readonly revision: bigint | null; readonly position: number | null }
  | { readonly kind: 'conflict'; readonly current: bigint | null }
  | { readonly kind: 'deleted' };

/** A copy of a log, as a backup holds it. */
export interface LogCopy {
  readonly events: ReadonlyArray<LoggedEvent>;
  readonly end: number;
  readonly scavengedTo: number;
}

/** What a log calls when it changes. */
export interface LogListener {
  /** Events were written, up to this end. */
  readonly written: (end: number) => void;
  /** Events were removed, or others took their place. */
  readonly rewritten: () => void;
}

/** The bytes of a record beside its event's. They make a position that is no multiple of another one's. */
const recordBytes = 91;

/** The bytes before the first event. */
const firstPosition = 100;

/**
 * The log of a node, in memory: what it has written, whether or not its index shows it. Appends are decided on it:
 * they are idempotent, and fail on an unexpected revision or a closed stream.
 */
export class EventLog {
  #events: LoggedEvent[] = [];
  #end = firstPosition;
  #scavengedTo = 0;
  readonly #streams = new Map<string, LoggedEvent[]>();
  readonly #listeners = new Set<LogListener>();
  readonly #now: () => number;

  /**
   * @param now milliseconds since 1970, by which events age
   * @param isReady false for a node without a leader, which shows an empty log
   */
  constructor(now: () => number = Date.now, isReady = true) {
    this.#now = now;
    if (!isReady) return;
    // The events that a new server of that release stores before its first client connects.
    const scavenges = { $maxAge: 2592000, $acl: { $r: '$ops', $w: [], $d: [], $mr: [], $mw: [] } };
    this.#write('$$$scavenges', [serverEvent('$metadata', JSON.stringify(scavenges))]);
  }

  /** `$all` as it was written, in order. */
  get events(): ReadonlyArray<LoggedEvent> {
    return this.#events;
  }

  /** The position of the next event. */
  get end(): number {
    return this.#end;
  }

  /** Below it the log is scavenged: a read may begin between two records. */
  get scavengedTo(): number {
    return this.#scavengedTo;
  }

  /** @returns a function that removes the listener */
  listen(listener: LogListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  append(name: string, expected: Expectation, events: ReadonlyArray<ProposedEvent>): Written {
    if (this.isTombstoned(name)) return { kind: 'deleted' };
    const current = this.lastRevision(name);
    const repeat = this.#repeatOf(name, expected, current, events);
    if (repeat !== null) return repeat;
    const softDeleted = this.isSoftDeleted(name);
    if (expected === 'stream-exists' && softDeleted) return { kind: 'deleted' };
    if (!this.#meets(expected, current, softDeleted)) return { kind: 'conflict', current };
    if (events.length === 0) return this.#nothingWritten(current);
    const last = this.#write(name, events);
    if (softDeleted) this.#undelete(name, (current ?? -1n) + 1n);
    return { kind: 'written', revision: last.revision, position: last.position };
  }

  /** Hides the stream's events from readers of the stream. */
  softDelete(name: string, expected: Expectation): Written {
    if (this.isTombstoned(name)) return { kind: 'deleted' };
    const current = this.lastRevision(name);
    if (current === null || !this.#meets(expected, current, false)) return { kind: 'conflict', current };
    const { revision, position } = this.setMetadata(name, { ...this.#metadataOf(name), $tb: maxRevision });
    return { kind: 'written', revision, position };
  }

  /** Closes the stream permanently. */
  tombstone(name: string, expected: Expectation): Written {
    if (this.isTombstoned(name)) return { kind: 'deleted' };
    const current = this.lastRevision(name);
    if (!this.#meets(expected, current, false)) return { kind: 'conflict', current };
    const event = this.#store(name, maxRevision, serverEvent('$streamDeleted', ''));
    this.#notify();
    return { kind: 'written', revision: event.revision, position: event.position };
  }

  /** Replaces a stream's metadata, as operators do: `$tb`, `$maxCount`, `$maxAge` (in seconds). */
  setMetadata(name: string, metadata: StreamMetadata): LoggedEvent {
    return this.#write(`$$${name}`, [serverEvent('$metadata', metadataText(metadata))]);
  }

  /** Writes the record of an election, which readers do not see. */
  writeEpoch(): void {
    this.#end += recordBytes;
    this.#notify();
  }

  /** Copies what a leader has written after this log, up to an end. */
  copyFrom(leader: EventLog, end: number): void {
    if (end <= this.#end) return;
    for (let place = leader.placeOf(this.#end); place < leader.#events.length; place += 1) {
      const event = leader.#events[place] as LoggedEvent;
      if (event.end > end) break;
      this.#keep(event);
    }
    this.#end = end;
    this.#notify();
  }

  /**
   * The end of what this log has in common with a leader's. Events of this log from there on were never replicated; the
   * record of an election may be after it, too.
   */
  commonEnd(leader: EventLog): number {
    const last = this.#events.findLast((event) => leader.#hasHad(event));
    const end = last?.end ?? firstPosition;
    if (last !== this.#events.at(-1)) return end;
    return Math.min(this.#end, leader.#events[leader.placeOf(end)]?.position ?? leader.#end);
  }

  /**
   * Removes what readers of the streams no longer see: `$all` gets holes. The last event of each stream stays, and of a
   * closed stream only its tombstone.
   */
  scavenge(): void {
    const seen = new Map([...this.#streams.keys()].map((name) => [name, new Set(this.visible(name))]));
    const kept = this.#events.filter((event) => {
      if (this.isTombstoned(event.stream)) return event.revision === maxRevision;
      return event === this.#last(event.stream) || seen.get(event.stream)?.has(event) === true;
    });
    this.#scavengedTo = this.#end;
    this.#rewrite(kept, this.#end);
  }

  copy(): LogCopy {
    return { events: [...this.#events], end: this.#end, scavengedTo: this.#scavengedTo };
  }

  /** Replaces everything by a copy. */
  restore({ events, end, scavengedTo }: LogCopy): void {
    this.#scavengedTo = scavengedTo;
    this.#rewrite(events, end);
  }

  /** Cuts off everything from a position on. */
  truncate(end: number): void {
    this.#rewrite(this.#events.slice(0, this.placeOf(end)), Math.min(this.#end, end));
  }

  /** The event at a position. */
  at(position: number): LoggedEvent | undefined {
    const event = this.#events[this.placeOf(position)];
    return event?.position === position ? event : undefined;
  }

  /** The place in `events` of the first event at a position or after it. */
  placeOf(position: number): number {
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#events[middle] as LoggedEvent).position < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** @param before only events below this position count, here and below: what an index shows */
  isTombstoned(name: string, before?: number): boolean {
    const stream = name.startsWith('$$') ? name.slice(2) : name;
    return this.#last(stream, before)?.revision === maxRevision;
  }

  isSoftDeleted(name: string, before?: number): boolean {
    return this.#limitsOf(name, before).truncateBefore === maxRevision;
  }

  /** Null when nothing was ever written. */
  lastRevision(name: string, before?: number): bigint | null {
    return this.#last(name, before)?.revision ?? null;
  }

  /** The events that a stream's readers see, in order; null for a stream that is not there, or is soft-deleted. */
  visible(name: string, before = Number.POSITIVE_INFINITY): ReadonlyArray<LoggedEvent> | null {
    const last = this.#last(name, before);
    if (last === undefined || this.isSoftDeleted(name, before)) return null;
    const { truncateBefore, maxCount, maxAgeMs } = this.#limitsOf(name, before);
    const oldest = this.#now() - maxAgeMs;
    const firstCounted = last.revision - BigInt(Math.min(maxCount, Number.MAX_SAFE_INTEGER));
    return (this.#streams.get(name) ?? []).filter(
      ({ revision, createdAt, position }) =>
        revision >= truncateBefore && revision > firstCounted && createdAt >= oldest && position < before,
    );
  }

  /** An event by stream and revision, as a link names it; undefined when readers of the stream do not see it. */
  find(name: string, revision: bigint, before?: number): LoggedEvent | undefined {
    if (this.isTombstoned(name, before)) return undefined;
    return this.visible(name, before)?.find((event) => event.revision === revision);
  }

  /** Whether it has an event, or may have scavenged it. */
  #hasHad({ position, id }: LoggedEvent): boolean {
    const own = this.at(position);
    return own === undefined ? position < this.#scavengedTo : own.id === id;
  }

  #meets(expected: Expectation, current: bigint | null, softDeleted: boolean): boolean {
    if (expected === 'any') return true;
    if (expected === 'no-stream') return current === null || softDeleted;
    if (expected === 'stream-exists') return current !== null;
    return current === expected;
  }

  /** Returns the answer to an append whose events are already stored at their revisions; null for a new append. */
  #repeatOf(
    name: string,
    expected: Expectation,
    current: bigint | null,
    events: ReadonlyArray<ProposedEvent>,
  ): Written | null {
    const stored = this.#streams.get(name);
    const [first] = events;
    if (stored === undefined || first === undefined || expected === current) return null;
    const next = expected === 'no-stream' ? 0n : typeof expected === 'bigint' ? expected + 1n : null;
    const from = stored.findIndex(({ id, revision }) => (next === null ? id === first.id : revision === next));
    if (from < 0) return null;
    const last = stored[from + events.length - 1];
    if (last !== undefined && events.every(({ id }, index) => stored[from + index]?.id === id))
      return { kind: 'written', revision: last.revision, position: this.isSoftDeleted(name) ? null : last.position };
    return next === null ? { kind: 'conflict', current } : null;
  }

  #nothingWritten(current: bigint | null): Written {
    const position = this.#end;
    this.#end += recordBytes;
    this.#notify();
    return { kind: 'written', revision: current, position };
  }

  #write(name: string, events: ReadonlyArray<ProposedEvent>): LoggedEvent {
    const next = (this.lastRevision(name) ?? -1n) + 1n;
    const stored = events.map((event, index) => this.#store(name, next + BigInt(index), event));
    this.#notify();
    return stored.at(-1) as LoggedEvent;
  }

  #store(stream: string, revision: bigint, event: ProposedEvent): LoggedEvent {
    const position = this.#end;
    const { type, data, metadata } = event;
    const end = position + recordBytes + stream.length + type.length + data.length + metadata.length;
    const logged = { ...event, stream, revision, position, end, createdAt: this.#now() };
    this.#keep(logged);
    this.#end = end;
    return logged;
  }

  #keep(event: LoggedEvent): void {
    this.#events.push(event);
    const stream = this.#streams.get(event.stream);
    if (stream === undefined) this.#streams.set(event.stream, [event]);
    else stream.push(event);
  }

  #rewrite(events: ReadonlyArray<LoggedEvent>, end: number): void {
    this.#events = [];
    this.#streams.clear();
    for (const event of events) this.#keep(event);
    this.#end = end;
    for (const { rewritten } of [...this.#listeners]) rewritten();
  }

  #notify(): void {
    for (const { written } of [...this.#listeners]) written(this.#end);
  }

  #last(name: string, before = Number.POSITIVE_INFINITY): LoggedEvent | undefined {
    return this.#streams.get(name)?.findLast(({ position }) => position < before);
  }

  /** An append to a soft-deleted stream continues its revisions, and makes the new events visible. */
  #undelete(name: string, firstRevision: bigint): void {
    this.setMetadata(name, { ...this.#metadataOf(name), $tb: firstRevision });
  }

  #metadataOf(name: string, before?: number): StreamMetadata {
    const last = this.#last(`$$${name}`, before);
    return last === undefined ? {} : parsedMetadata(last.data);
  }

  #limitsOf(name: string, before?: number): StreamLimits {
    if (name.startsWith('$$')) return { ...noLimits, maxCount: 1 };
    return this.#streams.has(`$$${name}`) ? streamLimits(this.#metadataOf(name, before)) : noLimits;
  }
}

function serverEvent(type: string, data: string): ProposedEvent {
  return {
    id: crypto.randomUUID(),
    type,
    isJson: type === '$metadata',
    data: Buffer.from(data),
    metadata: new Uint8Array(),
  };
}
