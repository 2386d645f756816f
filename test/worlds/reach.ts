import { AsyncLocalStorage } from 'node:async_hooks';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { SimulatedTime } from './simulated-time.ts';
import type { CallFate, Weather } from './weather.ts';

/** How long the client of a store waits for an answer. The port's own limit is longer. */
const clientLimitMs = { leases: 1_000, others: 5_000 };
const lateMs = { min: 2_500, max: 12_000 };

/** Calls that are no calls of a store. */
const local: ReadonlySet<string> = new Set(['onStreamRemoved', 'onDoubt', 'close']);
const members: ReadonlySet<string> = new Set(['changes']);

type Method = (...given: unknown[]) => unknown;

export interface ReachOptions {
  readonly time: SimulatedTime;
  readonly weather: Weather;
  /** Receives a line for each call. */
  readonly note: (line: string) => void;
  /** Called when a call had an effect that its caller may not know, or repeats. */
  readonly onFault: (fault: { readonly node: string; readonly store: string; readonly fate: CallFate }) => void;
}

/** The way of the nodes of a world to its stores. Each call takes time, and may fail in any way. */
export class Reach {
  readonly #options: ReachOptions;
  #calls = 0;
  #badUntil = 0;

  constructor(options: ReachOptions) {
    this.#options = options;
  }

  /** When the last call ends that does not go well. */
  get badUntil(): number {
    return this.#badUntil;
  }

  /** Returns a store as a node reaches it. */
  to<Port extends object>(store: string, node: string, port: Port): Port {
    const methods = new Map<PropertyKey, Method>();
    return new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (members.has(String(name))) return this.to(store, node, member as object);
        if (typeof member !== 'function') return member;
        if (local.has(String(name))) return member.bind(target);
        const known = methods.get(name);
        if (known !== undefined) return known;
        const method: Method = (...given) =>
          this.#call(store, node, String(name), (member as Method).bind(target), given);
        methods.set(name, method);
        return method;
      },
    });
  }

  async #call(store: string, node: string, name: string, method: Method, given: ReadonlyArray<unknown>) {
    const { time, weather, note, onFault } = this.#options;
    this.#calls += 1;
    const call = `${this.#calls} ${node} ${store}.${name}(${given.map(briefly).join(', ')})`;
    const fate = name === 'waitPast' ? 'answered' : weather.fateOf(node, store);
    note(`${time.now.toFixed(3)} ${call} ${fate}`);
    if (fate !== 'answered') {
      onFault({ node, store, fate });
      this.#badUntil = time.now + lateMs.max;
    }
    const parameters = await Promise.all(given.map(sendable));
    const answering = new Promise((resolve, reject) => {
      const onNode = AsyncLocalStorage.snapshot();
      const answer = (delayMs: number, run: () => void) => onNode(() => time.in(delayMs, run));
      const backMs = () => weather.latencyMs(node, store);
      const refuse = (delayMs: number, error: Error) => answer(delayMs, () => reject(error));
      const limitMs = store === 'leases' ? clientLimitMs.leases : clientLimitMs.others;
      if (fate === 'refused') return refuse(0, unavailable(store));
      if (fate === 'refused late') return refuse(limitMs * time.random.next(), unavailable(store));
      if (fate === 'wrong error') return refuse(backMs(), new TypeError(`${store} has answered something strange.`));
      if (fate === 'lost') return refuse(limitMs, unavailable(store));
      const carryOut = async () => {
        try {
          const result = await method(...parameters);
          if (fate === 'answer lost') return refuse(limitMs * time.random.next(), unavailable(store));
          answer(fate === 'answered late' ? between(lateMs, time.random.next()) : backMs(), () => resolve(result));
        } catch (error) {
          refuse(backMs(), error as Error);
        }
      };
      time.runOutside(() => time.in(backMs(), () => void carryOut()));
    });
    return answering;
  }
}

function between({ min, max }: { readonly min: number; readonly max: number }, share: number): number {
  return min + (max - min) * share;
}

function unavailable(store: string): UnavailableError {
  return new UnavailableError(`The store of ${store} does not answer.`);
}

/** What a node sends is read on the node, before it is sent. */
async function sendable(value: unknown): Promise<unknown> {
  if (value === null || typeof value !== 'object' || !(Symbol.asyncIterator in value)) return value;
  const pieces: Uint8Array[] = [];
  for await (const piece of value as AsyncIterable<Uint8Array>) pieces.push(piece);
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
