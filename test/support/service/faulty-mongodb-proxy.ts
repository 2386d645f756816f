import {
  answeredId,
  answerTo,
  commandOf,
  idOf,
  isGreeting,
  type MongoDbCommand,
  messageReader,
  withMembers,
} from './mongodb-messages.ts';
import { cut, type ProxiedConnection, ProxyListener } from './proxy-listener.ts';

/**
 * What goes wrong with a command. Those that change the answer are for the answers that a server gives when it stops
 * to be the primary: `refused` is not carried out; `interrupted`, `stepped down` and `unreplicated` (a
 * `writeConcernError` beside `ok: 1`) are. The others are faults of the network; `cut in request` and `cut in answer`
 * send half of a message.
 */
export const mongoDbFaults = [
  'refused',
  'interrupted',
  'stepped down',
  'unreplicated',
  'late',
  'cut before',
  'cut in request',
  'cut in answer',
  'cut after',
] as const;

export type MongoDbFault = (typeof mongoDbFaults)[number];

/** Chooses the fault of a command; null for none. */
export type ChooseFault = (command: MongoDbCommand) => MongoDbFault | null;

const writes = new Set(['insert', 'update', 'delete', 'findAndModify']);
/** How long a late answer is held. */
const lateMs = 5_000;

const setName = 'rs';

/** Returns the fault of each command at random. @param share of the commands that get one, from 0 to 1 */
export function randomFaults(random: () => number, share: number): ChooseFault {
  return ({ command }) => {
    if (random() >= share) return null;
    const possible = mongoDbFaults.filter((fault) => fault !== 'unreplicated' || writes.has(command));
    return possible[Math.floor(random() * possible.length)] ?? null;
  };
}

/**
 * A proxy before a server that shows it as the only member of a replica set, which may step down for a time, and that
 * adds faults to the commands that a test chooses. None meets the question what kind of server it is.
 */
export class FaultyMongoDbProxy {
  readonly #listener: ProxyListener;
  readonly #late = new Set<NodeJS.Timeout>();
  readonly #made = new Map<MongoDbFault, number>();
  #choose: ChooseFault = () => null;
  #steppedDownUntil = 0;
  #announces = true;

  /** @param port the server's */
  constructor(port: number) {
    this.#listener = new ProxyListener(port, (connection) => this.#join(connection));
  }

  /** How often each fault has met a command. */
  get made(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#made);
  }

  listen(): Promise<void> {
    return this.#listener.listen();
  }

  /** Returns an address with the server's port replaced by this proxy's. */
  through(url: string): string {
    return this.#listener.through(url);
  }

  /** Begins to choose the faults of commands by this function. */
  choose(choose: ChooseFault): void {
    this.#choose = choose;
  }

  /** Ends all faults for later commands. */
  heal(): void {
    this.#choose = () => null;
    this.#steppedDownUntil = 0;
  }

  /**
   * Refuses all commands for a time, as a server does whose set elects a primary.
   * @param announces whether it says meanwhile that it is a secondary: a driver then waits for a primary. Else each command is
   * sent and refused
   */
  stepDown(milliseconds: number, announces: boolean): void {
    this.#steppedDownUntil = performance.now() + milliseconds;
    this.#announces = announces;
  }

  /** Cuts all connections now; new ones are accepted. */
  cut(): void {
    this.#listener.cut();
  }

  async close(): Promise<void> {
    for (const timer of this.#late) clearTimeout(timer);
    await this.#listener.close();
  }

  get #hasSteppedDown(): boolean {
    return performance.now() < this.#steppedDownUntil;
  }

  #join(connection: ProxiedConnection): void {
    const { client, server } = connection;
    /** What is done with the answer to a message, by the message's id. */
    const answering = new Map<number, (answer: Buffer) => void>();
    const onRequest = messageReader((message) => {
      const fault = isGreeting(message) ? null : this.#faultOf(message);
      if (fault === 'refused') client.write(answerTo(message, refusalOf(message)));
      else if (fault === 'cut before') cut(connection);
      else if (fault === 'cut in request') server.write(halfOf(message), () => cut(connection));
      else {
        answering.set(idOf(message), (answer) => this.#answer(message, answer, fault, connection));
        server.write(message);
      }
    });
    const onAnswer = messageReader((answer) => {
      answering.get(answeredId(answer))?.(answer);
      answering.delete(answeredId(answer));
    });
    client.on('data', onRequest);
    server.on('data', onAnswer);
  }

  #faultOf(message: Buffer): MongoDbFault | null {
    const fault = this.#hasSteppedDown
      ? 'refused'
      : this.#choose(commandOf(message) ?? { command: '', collection: '' });
    if (fault !== null) this.#made.set(fault, (this.#made.get(fault) ?? 0) + 1);
    return fault;
  }

  #answer(message: Buffer, answer: Buffer, fault: MongoDbFault | null, connection: ProxiedConnection): void {
    const { client } = connection;
    if (isGreeting(message)) client.write(this.#asMember(answer));
    else if (fault === 'interrupted') client.write(answerTo(message, interrupted));
    else if (fault === 'stepped down') client.write(answerTo(message, steppedDown));
    else if (fault === 'unreplicated') client.write(withMembers(answer, { writeConcernError }));
    else if (fault === 'late') this.#hold(() => client.write(answer));
    else if (fault === 'cut in answer') client.write(halfOf(answer), () => cut(connection));
    else if (fault === 'cut after') cut(connection);
    else client.write(answer);
  }

  /** Returns a greeting's answer as that of a member of a replica set. */
  #asMember(answer: Buffer): Buffer {
    const { address } = this.#listener;
    const isPrimary = !(this.#hasSteppedDown && this.#announces);
    return withMembers(answer, {
      ismaster: isPrimary,
      isWritablePrimary: isPrimary,
      secondary: !isPrimary,
      setName,
      hosts: [address],
      me: address,
      // With a version a driver asks for changes only, and those of this proxy have none.
      topologyVersion: null,
      ...(isPrimary && { primary: address }),
    });
  }

  #hold(answer: () => void): void {
    const timer = setTimeout(() => {
      this.#late.delete(timer);
      answer();
    }, lateMs);
    this.#late.add(timer);
  }
}

const halfOf = (message: Buffer) => message.subarray(0, message.length / 2);

const errorOf = (code: number, codeName: string, errmsg: string) => ({ code, codeName, errmsg });

/** A refusal of a whole command, with the label that servers give. */
const refusal = (code: number, codeName: string, errmsg: string) => ({
  ok: 0,
  ...errorOf(code, codeName, errmsg),
  errorLabels: ['RetryableWriteError'],
});

const notWritablePrimary = refusal(10107, 'NotWritablePrimary', 'not primary');
const notPrimaryOrSecondary = refusal(13436, 'NotPrimaryOrSecondary', 'node is not in primary or recovering state');
const refusalOf = (message: Buffer) =>
  writes.has(commandOf(message)?.command ?? '') ? notWritablePrimary : notPrimaryOrSecondary;
const interrupted = refusal(
  11602,
  'InterruptedDueToReplStateChange',
  'operation was interrupted because the replica set changes its primary',
);
const steppedDown = refusal(189, 'PrimarySteppedDown', 'the primary stepped down');
const writeConcernError = errorOf(
  189,
  'PrimarySteppedDown',
  'the primary stepped down while it waited for replication',
);
