import { BSON } from 'mongodb';
import { TcpProxy } from './tcp-proxy.ts';

/** A command that a client has sent. */
export interface SentCommand {
  /** The command's name: `find`, `update`, `hello`. */
  readonly command: string;
  /** Empty for a command on no collection. */
  readonly collection: string;
}

/** How often a client has sent a command on a collection. */
export interface CommandCount extends SentCommand {
  readonly count: number;
}

/** The bytes of a message's head: its length, two ids and its kind. */
const headBytes = 16;
/** The kind of message that holds a command; before it come its flags and a section's kind. */
const opMsg = 2013;
const bodyAt = headBytes + 4 + 1;

/** A proxy before a server of MongoDB's protocol that counts the commands of all clients, by name and collection. */
export class CountingMongoDbProxy {
  readonly #proxy: TcpProxy;
  readonly #counts = new Map<string, CommandCount>();

  /** @param port the server's */
  constructor(port: number) {
    this.#proxy = new TcpProxy(port, () => commandReader((sent) => this.#count(sent)));
  }

  listen(): Promise<void> {
    return this.#proxy.listen();
  }

  /** Returns an address with the server's port replaced by this proxy's. */
  through(url: string): string {
    return this.#proxy.through(url);
  }

  /** Returns the counts since the start or the last `reset`, the greatest first. */
  counts(): ReadonlyArray<CommandCount> {
    return [...this.#counts.values()].toSorted((one, other) => other.count - one.count);
  }

  /** Begins to count from zero. */
  reset(): void {
    this.#counts.clear();
  }

  close(): Promise<void> {
    return this.#proxy.close();
  }

  #count(sent: SentCommand): void {
    const key = `${sent.command} ${sent.collection}`;
    this.#counts.set(key, { ...sent, count: (this.#counts.get(key)?.count ?? 0) + 1 });
  }
}

/** Returns a reader of a connection's bytes, in any parts, that passes on each command. */
export function commandReader(onCommand: (sent: SentCommand) => void): (data: Buffer) => void {
  return messageReader((message) => {
    const sent = commandOf(message);
    if (sent !== null) onCommand(sent);
  });
}

/** Returns a reader of a connection's bytes that passes on whole messages. */
function messageReader(onMessage: (message: Buffer) => void): (data: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (data) => {
    rest = Buffer.concat([rest, data]);
    for (let length = lengthOf(rest); length <= rest.length; length = lengthOf(rest)) {
      onMessage(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  };
}

function lengthOf(bytes: Buffer): number {
  return bytes.length < headBytes ? Number.POSITIVE_INFINITY : bytes.readInt32LE(0);
}

/** Returns null for a message of another kind, like the first greeting of a connection. */
function commandOf(message: Buffer): SentCommand | null {
  if (message.readInt32LE(12) !== opMsg || message[bodyAt - 1] !== 0) return null;
  const end = bodyAt + message.readInt32LE(bodyAt);
  const body = BSON.deserialize(message.subarray(bodyAt, end));
  const [command = '', named] = Object.entries(body)[0] ?? [];
  // `getMore` has the cursor's id first, and the collection in a member of its own.
  const collection: unknown = typeof named === 'string' ? named : body.collection;
  return { command, collection: typeof collection === 'string' ? collection : '' };
}
