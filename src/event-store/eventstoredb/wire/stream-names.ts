import streams from '@eventstore/db-client/generated/streams_pb.js';

type FilterOptions = InstanceType<typeof streams.ReadReq.Options.FilterOptions>;

export interface StreamNaming {
  /** The beginning of our streams' names on the server, and only there. */
  readonly streamPrefix: string;
  /**
   * Kinds of streams: the text between the prefix and the first hyphen. Other streams are not ours. Default: any kind.
   */
  readonly streamKinds?: ReadonlyArray<string>;
}

/** The names of our streams, on a server that other applications use too. */
export class StreamNames {
  readonly #prefix: string;
  readonly #kinds: ReadonlySet<string> | null;
  /** The filter is made once, because each page needs it. */
  readonly #ownEvents: FilterOptions;

  constructor({ streamPrefix, streamKinds }: StreamNaming) {
    this.#prefix = streamPrefix;
    this.#kinds = streamKinds === undefined ? null : new Set(streamKinds);
    this.#ownEvents = this.#filterFor(this.#prefix);
  }

  onServer(stream: string): string {
    return `${this.#prefix}${stream}`;
  }

  fromServer(name: string): string {
    return name.slice(this.#prefix.length);
  }

  /** True if the stream belongs to the log that followers read. */
  isFollowed(stream: string): boolean {
    return this.#kinds === null || this.#kinds.has(stream.slice(0, Math.max(0, stream.indexOf('-'))));
  }

  /** Describes the names for an operator. */
  get description(): string {
    return this.#prefix === '' ? 'the streams of this service' : `streams whose names begin with \`${this.#prefix}\``;
  }

  /** Selects our events, without those of other applications and of the server. */
  ownEvents(): FilterOptions {
    return this.#ownEvents;
  }

  eventsOf(prefix: string): FilterOptions {
    return filterOptions().setStreamIdentifier(prefixFilter([this.onServer(prefix)]));
  }

  /** Selects events that would be ours without the prefix; null if that cannot be known. */
  unprefixedEvents(): FilterOptions | null {
    return this.#kinds === null || this.#prefix === '' ? null : this.#filterFor('');
  }

  #filterFor(prefix: string): FilterOptions {
    const filter = filterOptions();
    if (this.#kinds !== null)
      return filter.setStreamIdentifier(prefixFilter(Array.from(this.#kinds, (kind) => `${prefix}${kind}-`)));
    if (prefix !== '') return filter.setStreamIdentifier(prefixFilter([prefix]));
    // The types of the server's own events begin with `$`.
    return filter.setEventType(new streams.ReadReq.Options.FilterOptions.Expression().setRegex('^[^$].*'));
  }
}

function filterOptions(): FilterOptions {
  return new streams.ReadReq.Options.FilterOptions()
    .setMax(eventsBetweenCheckpoints)
    .setCheckpointintervalmultiplier(1);
}

function prefixFilter(prefixes: string[]) {
  return new streams.ReadReq.Options.FilterOptions.Expression().setPrefixList(prefixes);
}

/** Events between two checkpoints, which we do not use, so there are few, in steps that a server can scan quickly. */
const eventsBetweenCheckpoints = 500;
