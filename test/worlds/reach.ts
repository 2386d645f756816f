import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable } from 'node:stream';
import type { LogPageRequest } from '#event-store/log-pages.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { SimulatedTime } from './simulated-time.ts';
import type { CallFate, Weather } from './weather.ts';

/** How long the client of a store waits for an answer. The port's own limit is longer. */
const clientLimitMs = 5_000;
/** A late answer comes after a lease may be lost, or after the client has given up. */
const lateMs = { min: 1_500, max: 12_000 };
/** Maximum time of a port for a call that its adapter does not end. */
const portLimitMs = 30_000;

/** Calls that are no calls of a store. */
const local: ReadonlySet<string> = new Set(['onStreamRemoved', 'onDoubt']);
const members: ReadonlySet<string> = new Set(['changes']);
/** Calls that the adapter ends, because their port has no limit, or a longer one. */
const endedByAdapter: ReadonlySet<string> = new Set([
  'events.append',
  'events.removeStream',
  'events.streamNames',
  'read-models.begin',
  'read-models.finish',
  'read-models.dropOthers',
  'blobs.put',
]);

const refusals: ReadonlySet<CallFate> = new Set(['refused', 'refused late', 'wrong error']);

type Method = (...given: unknown[]) => unknown;

export interface ReachOptions {
  readonly time: SimulatedTime;
  readonly weather: Weather;
  /** Receives a line for each call. */
  readonly note: (line: string) => void;
  /** Called when a call does not go well. */
  readonly onFault: (fault: ReachFault) => void;
}

/** A call that has not gone well. */
export interface ReachFault {
  readonly at: number;
  readonly store: string;
  readonly call: string;
  readonly fate: CallFate;
}

/** A store as a node has it open. */
interface OpenedStore {
  readonly name: string;
  readonly node: string;
  /** How long its client waits for an answer. */
  readonly limitMs: () => number;
  isClosed: boolean;
}

/** The way of the nodes of a world to its stores. Each call takes time, and may fail in any way. */
export class Reach {
  readonly #options: ReachOptions;
  readonly #kinds = new Set<string>();
  #calls = 0;
  #badUntil = 0;
  #unansweredUntil = 0;

  constructor(options: ReachOptions) {
    this.#options = options;
  }

  /** When the last call ends that does not go well. */
  get badUntil(): number {
    return Math.max(this.#badUntil, this.#unansweredUntil);
  }

  /** When the limits of ports have ended the last call that is never answered. */
  get unansweredUntil(): number {
    return this.#unansweredUntil;
  }

  /** The calls that nodes have made: of which stores, and which. */
  get kinds(): ReadonlyArray<string> {
    return [...this.#kinds];
  }

  /** Returns a store as a node reaches it. @param limitMs how long its client waits for an answer */
  to<Port extends object>(name: string, node: string, port: Port, limitMs = () => clientLimitMs): Port {
    return this.#opened({ name, node, limitMs, isClosed: false }, port);
  }

  #opened<Port extends object>(store: OpenedStore, port: Port): Port {
    const methods = new Map<PropertyKey, Method>();
    return new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (members.has(String(name))) return this.#opened(store, member as object);
        if (typeof member !== 'function') return member;
        const bound = member.bind(target) as Method;
        if (local.has(String(name))) return bound;
        const known = methods.get(name);
        if (known !== undefined) return known;
        const method = this.#method(store, String(name), bound);
        methods.set(name, method);
        return method;
      },
    });
  }

  #method(store: OpenedStore, name: string, method: Method): Method {
    if (name === 'close')
      return (...given) => {
        store.isClosed = true;
        return method(...given);
      };
    if (name === 'list' && store.name === 'blobs')
      return (...given) => this.#pieces(store, name, method(...given) as AsyncIterable<unknown>);
    return (...given) => this.#call(store, name, method, given);
  }

  async #call(store: OpenedStore, name: string, method: Method, given: ReadonlyArray<unknown>): Promise<unknown> {
    const { time, weather } = this.#options;
    if (store.isClosed) throw unavailable(store, 'is closed');
    const fate = this.#fateOf(store, name, given);
    const limitMs = name === 'waitPast' ? Number.POSITIVE_INFINITY : store.limitMs();
    const sentAt = time.now;
    const content = given.find(isContent);
    if (content !== undefined && fate === 'refused') await readOne(content);
    const parameters = content === undefined || fate === 'refused' ? given : await Promise.all(given.map(sendable));
    const result = await new Promise((resolve, reject) => {
      const onNode = AsyncLocalStorage.snapshot();
      const answer = (atMs: number, run: () => void) => onNode(() => time.in(sentAt + atMs - time.now, run));
      const refuse = (atMs: number, error: Error) => answer(atMs, () => reject(error));
      const latencyMs = () => weather.latencyMs(store.node, store.name, name);
      if (fate === 'refused') return refuse(0, unavailable(store));
      if (fate === 'refused late')
        return refuse(Math.min(limitMs, clientLimitMs) * time.random.next(), unavailable(store));
      if (fate === 'wrong error') return refuse(latencyMs(), strangeError(store, time.random.next()));
      if (fate === 'lost') return refuse(limitMs, unavailable(store));
      const late = fate === 'answered late' ? between(lateMs, time.random.next()) : 0;
      const lateThere = late * time.random.next();
      const answerMs = (backMs: number) => time.now - sentAt + backMs;
      const settle = async () => {
        try {
          const value = await method(...parameters);
          if (fate === 'never answered') return;
          if (fate === 'answer lost') refuse(limitMs * time.random.next(), unavailable(store));
          else if (!isLate) answerOrEnd(answerMs(latencyMs() + late - lateThere), () => resolve(value));
        } catch (error) {
          if (!isLate) answerOrEnd(answerMs(latencyMs()), () => reject(error as Error));
        }
      };
      // The client gives up, and what it has sent may take effect nevertheless.
      const answerOrEnd = (atMs: number, run: () => void) =>
        atMs < limitMs ? answer(atMs, run) : refuse(limitMs, unavailable(store));
      const thereMs = latencyMs() + lateThere;
      const isLate = fate !== 'never answered' && thereMs >= limitMs;
      if (isLate) refuse(limitMs, unavailable(store));
      if (fate === 'never answered' && time.random.isTrue(0.5)) return;
      time.runOutside(() => time.in(thereMs, () => void settle()));
    });
    return isContent(result) ? this.#readable(store, name, result) : result;
  }

  /** Decides what happens to a call, and notes it. */
  #fateOf(store: OpenedStore, name: string, given: ReadonlyArray<unknown>): CallFate {
    const { time, weather, note, onFault } = this.#options;
    this.#calls += 1;
    this.#kinds.add(`${store.name}.${name}`);
    const fate = possibleFate(`${store.name}.${name}`, given, weather.fateOf(store.node, store.name, name));
    note(
      `${time.now.toFixed(3)} ${this.#calls} ${store.node} ${store.name}.${name}(${given.map(briefly).join(', ')}) ${fate}`,
    );
    if (fate === 'answered') return fate;
    onFault({ at: time.now, store: store.name, call: name, fate });
    this.#badUntil = Math.max(this.#badUntil, time.now + lateMs.max);
    if (fate === 'never answered') this.#unansweredUntil = time.now + portLimitMs;
    return fate;
  }

  #readable(store: OpenedStore, name: string, content: AsyncIterable<unknown>): Readable {
    return Readable.from(this.#pieces(store, name, content), { objectMode: false, highWaterMark: 0 });
  }

  /** Each piece of a stream is answered by itself. */
  async *#pieces(store: OpenedStore, name: string, content: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    for await (const piece of content) yield await this.#call(store, `${name} piece`, async () => piece, []);
  }
}

/** Returns what can happen to a call. A wait for a new event has no effect. */
function possibleFate(call: string, given: ReadonlyArray<unknown>, fate: CallFate): CallFate {
  if (call === 'events.waitPast' && fate !== 'answered' && !refusals.has(fate)) return 'never answered';
  const isFreshPage = call === 'events.readPage' && (given[0] as LogPageRequest).isFresh === true;
  return fate === 'never answered' && (isFreshPage || endedByAdapter.has(call)) ? 'lost' : fate;
}

function between({ min, max }: { readonly min: number; readonly max: number }, share: number): number {
  return min + (max - min) * share;
}

function unavailable({ name }: OpenedStore, what = 'does not answer'): UnavailableError {
  return new UnavailableError(`The store of ${name} ${what}.`);
}

function strangeError({ name }: OpenedStore, chosen: number): Error {
  const text = `The store of ${name} has answered something strange.`;
  return chosen < 0.5 ? new TypeError(text) : new FencedError(text);
}

function isContent(value: unknown): value is AsyncIterable<Uint8Array> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** A store may fail while it is sent a stream. */
async function readOne(content: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of content) return;
}

/** What a node sends is read on the node, before it is sent. */
async function sendable(value: unknown): Promise<unknown> {
  if (!isContent(value)) return value;
  const pieces: Uint8Array[] = [];
  for await (const piece of value) pieces.push(piece);
  return (async function* () {
    yield* pieces;
  })();
}

/** A hash of events, some of which have the hash of a random key. */
const madeOfSecrets = /[0-9a-f]{16,}/g;

/** The same in each run of a seed: nothing of what secrets make. */
function briefly(value: unknown): string {
  if (typeof value === 'string') return value.replace(madeOfSecrets, '…').slice(0, 60);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.length}]`;
  if (value instanceof Map) return `{${[...value.keys()].slice(0, 3).join(' ').slice(0, 80)}}`;
  return '…';
}
