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
  /** Its place in `EventLog.events`. */
  readonly index: number;
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

/** The revision of a tombstone, and the truncation mark of a soft delete: the largest signed 64-bit number. */
export const maxRevision = 9223372036854775807n;

/** The distance between two positions. Those of a real server depend on the size of its records. */
const positionStep = 100;

interface Stream {
  readonly name: string;
  readonly events: LoggedEvent[];
  tombstoned: boolean;
}

interface StreamLimits {
  readonly truncateBefore: bigint;
  readonly maxCount: number;
  readonly maxAgeMs: number;
}

const noLimits: StreamLimits = {
  truncateBefore: 0n,
  maxCount: Number.POSITIVE_INFINITY,
  maxAgeMs: Number.POSITIVE_INFINITY,
};

/** The log of the double, in memory: streams, `$all`, idempotent appends, deletes, stream metadata. */
export class EventLog {
  /** `$all`, in order. */
  readonly events: LoggedEvent[] = [];
  readonly #streams = new Map<string, Stream>();
  readonly #listeners = new Set<(event: LoggedEvent) => void>();
  readonly #now: () => number;
  #position = 0;

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

  /** Calls the listener for each stored event. @returns a function that removes the listener */
  listen(listener: (event: LoggedEvent) => void): () => void {
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
    const { revision, position } = this.#setMetadata(name, { ...this.#metadataOf(name), $tb: maxRevision });
    return { kind: 'written', revision, position };
  }

  /** Closes the stream permanently. */
  tombstone(name: string, expected: Expectation): Written {
    if (this.isTombstoned(name)) return { kind: 'deleted' };
    const current = this.lastRevision(name);
    if (!this.#meets(expected, current, false)) return { kind: 'conflict', current };
    const event = this.#store(name, maxRevision, serverEvent('$streamDeleted', ''));
    this.#streamNamed(name).tombstoned = true;
    this.#notify([event]);
    return { kind: 'written', revision: event.revision, position: event.position };
  }

  isTombstoned(name: string): boolean {
    const stream = name.startsWith('$$') ? name.slice(2) : name;
    return this.#streams.get(stream)?.tombstoned === true;
  }

  isSoftDeleted(name: string): boolean {
    return this.#limitsOf(name).truncateBefore === maxRevision;
  }

  /** Null when nothing was ever written. */
  lastRevision(name: string): bigint | null {
    return this.#streams.get(name)?.events.at(-1)?.revision ?? null;
  }

  /** The events that a stream's readers see, in order; null for a stream that is not there, or is soft-deleted. */
  visible(name: string): ReadonlyArray<LoggedEvent> | null {
    const stream = this.#streams.get(name);
    if (stream === undefined || this.isSoftDeleted(name)) return null;
    const { truncateBefore, maxCount, maxAgeMs } = this.#limitsOf(name);
    const oldest = this.#now() - maxAgeMs;
    const counted = maxCount === Number.POSITIVE_INFINITY ? stream.events : stream.events.slice(-maxCount);
    return counted.filter(({ revision, createdAt }) => revision >= truncateBefore && createdAt >= oldest);
  }

  /** An event by stream and revision, as a link names it; undefined when readers of the stream do not see it. */
  find(name: string, revision: bigint): LoggedEvent | undefined {
    if (this.isTombstoned(name)) return undefined;
    return this.visible(name)?.find((event) => event.revision === revision);
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
    const stored = this.#streams.get(name)?.events;
    const [first] = events;
    if (stored === undefined || first === undefined || expected === current) return null;
    const named = typeof expected === 'bigint' || expected === 'no-stream';
    const from = named
      ? Number(expected === 'no-stream' ? 0n : expected + 1n)
      : stored.findIndex(({ id }) => id === first.id);
    if (from < 0) return null;
    const last = stored[from + events.length - 1];
    if (last !== undefined && events.every(({ id }, index) => stored[from + index]?.id === id))
      return { kind: 'written', revision: last.revision, position: this.isSoftDeleted(name) ? null : last.position };
    return named ? null : { kind: 'conflict', current };
  }

  #nothingWritten(current: bigint | null): Written {
    this.#position += positionStep;
    return { kind: 'written', revision: current, position: this.#position };
  }

  #write(name: string, events: ReadonlyArray<ProposedEvent>): LoggedEvent {
    const next = (this.lastRevision(name) ?? -1n) + 1n;
    const stored = events.map((event, index) => this.#store(name, next + BigInt(index), event));
    this.#notify(stored);
    return stored.at(-1) as LoggedEvent;
  }

  #store(name: string, revision: bigint, event: ProposedEvent): LoggedEvent {
    this.#position += positionStep;
    const index = this.events.length;
    const logged = { ...event, stream: name, revision, position: this.#position, index, createdAt: this.#now() };
    this.events.push(logged);
    this.#streamNamed(name).events.push(logged);
    return logged;
  }

  #notify(events: ReadonlyArray<LoggedEvent>): void {
    for (const event of events) for (const listener of [...this.#listeners]) listener(event);
  }

  #streamNamed(name: string): Stream {
    const existing = this.#streams.get(name);
    if (existing !== undefined) return existing;
    const stream = { name, events: [], tombstoned: false };
    this.#streams.set(name, stream);
    return stream;
  }

  /** An append to a soft-deleted stream continues its revisions, and makes the new events visible. */
  #undelete(name: string, firstRevision: bigint): void {
    this.#setMetadata(name, { ...this.#metadataOf(name), $tb: firstRevision });
  }

  #setMetadata(name: string, metadata: Record<string, unknown>): LoggedEvent {
    return this.#write(`$$${name}`, [serverEvent('$metadata', jsonWithBigints(metadata))]);
  }

  #metadataOf(name: string): Record<string, unknown> {
    const last = this.#streams.get(`$$${name}`)?.events.at(-1);
    if (last === undefined) return {};
    try {
      return JSON.parse(Buffer.from(last.data).toString()) as Record<string, unknown>;
    } catch {
      return {};
    }
  }

  #limitsOf(name: string): StreamLimits {
    if (name.startsWith('$$')) return { ...noLimits, maxCount: 1 };
    if (!this.#streams.has(`$$${name}`)) return noLimits;
    const { $tb, $maxCount, $maxAge } = this.#metadataOf(name);
    return {
      truncateBefore: typeof $tb === 'number' ? revisionOf($tb) : 0n,
      maxCount: typeof $maxCount === 'number' ? $maxCount : Number.POSITIVE_INFINITY,
      maxAgeMs: typeof $maxAge === 'number' ? $maxAge * 1_000 : Number.POSITIVE_INFINITY,
    };
  }
}

/** JSON numbers above 2^53 lose their last digits: the mark of a soft delete is known by its size. */
function revisionOf(number: number): bigint {
  return number > Number.MAX_SAFE_INTEGER ? maxRevision : BigInt(number);
}

function jsonWithBigints(object: Record<string, unknown>): string {
  const members = Object.entries(object).map(
    ([key, value]) => `${JSON.stringify(key)}:${typeof value === 'bigint' ? value : JSON.stringify(value)}`,
  );
  return `{${members.join(',')}}`;
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
