import streams from '@eventstore/db-client/generated/streams_pb.js';

type FilterOptions = InstanceType<typeof streams.ReadReq.Options.FilterOptions>;

export interface StreamNaming {
  /** What every stream's name begins with on the server; there, and nowhere else. */
  readonly streamPrefix: string;
  /** What follows the prefix, before the first hyphen: any other stream is not ours. Default: whatever it is. */
  readonly streamKinds?: ReadonlyArray<string>;
}

/** The names of our streams on a server that other applications use too. */
export class StreamNames {
  readonly #prefix: string;
  readonly #kinds: ReadonlyArray<string> | null;
  /** Made once: it names every kind of stream, and each page is read by it. */
  readonly #ownEvents: FilterOptions;

  constructor({ streamPrefix, streamKinds }: StreamNaming) {
    this.#prefix = streamPrefix;
    this.#kinds = streamKinds ?? null;
    this.#ownEvents = this.#filterFor(this.#prefix);
  }

  /** A stream's name on the server. */
  onServer(stream: string): string {
    return `${this.#prefix}${stream}`;
  }

  /** The name here of a stream of ours, from its name on the server. */
  fromServer(name: string): string {
    return name.slice(this.#prefix.length);
  }

  /** Lets our events pass, and no other application's or the server's own. */
  ownEvents(): FilterOptions {
    return this.#ownEvents;
  }

  /** Lets the events pass of our streams whose name begins so. */
  eventsOf(prefix: string): FilterOptions {
    return filterOptions().setStreamIdentifier(prefixFilter([this.onServer(prefix)]));
  }

  /** Lets the events pass that would be ours without the prefix; null where that cannot be known. */
  unprefixedEvents(): FilterOptions | null {
    return this.#kinds === null || this.#prefix === '' ? null : this.#filterFor('');
  }

  #filterFor(prefix: string): FilterOptions {
    const filter = filterOptions();
    if (this.#kinds !== null)
      return filter.setStreamIdentifier(prefixFilter(this.#kinds.map((kind) => `${prefix}${kind}-`)));
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

/** Checkpoints are not used; so few of them, in steps that a server can look through at once. */
const eventsBetweenCheckpoints = 500;
