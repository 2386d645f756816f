import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { assertSameMessage } from './compare-messages.ts';
import { PositionMap } from './position-map.ts';
import { type JsonMessage, linesOf, type RecordedLine } from './recordings.ts';
import { RawClients, ReplayedCall } from './replayed-call.ts';

/** The trailers that are compared; the others belong to the transport. */
const trailers = [
  'exception',
  'stream-name',
  'expected-version',
  'actual-version',
  'maximum-append-size',
  'required-metadata-properties',
];

/** Repeats the calls of a recording on one store, and compares the answers. */
export class Replay {
  readonly #double: EventStoreDbDouble;
  #positions = new PositionMap();
  #features: JsonMessage | null = null;

  constructor(double: EventStoreDbDouble) {
    this.#double = double;
  }

  /**
   * Replays one scenario. The scenarios of a file are replayed in its order.
   * @throws AssertionError when an answer differs from the recording
   */
  async run(lines: ReadonlyArray<RecordedLine>): Promise<void> {
    if (lines[0]?.freshStore === true) await this.#freshStore();
    const clients = new RawClients(`127.0.0.1:${this.#double.port}`);
    const calls = new Map<number, ReplayedCall>();
    const began = Date.now();
    try {
      for (const [index, line] of lines.entries()) {
        this.#double.now = () => began + line.t;
        await this.#step(line, lines.slice(index), calls, clients);
      }
      await nothingMoreComes(calls.values());
    } finally {
      for (const call of calls.values()) call.cancel();
      clients.close();
      this.#double.now = Date.now;
    }
  }

  async #freshStore(): Promise<void> {
    await this.#double.reset();
    this.#positions = new PositionMap();
  }

  async #step(
    line: RecordedLine,
    ahead: ReadonlyArray<RecordedLine>,
    calls: Map<number, ReplayedCall>,
    clients: RawClients,
  ): Promise<void> {
    const { call: number, method, message } = line;
    if (number === undefined || method === undefined || isLeftOut(line.scenario, method)) return;
    const end = ahead.find((other) => other.call === number && other.dir === 'end');
    // The client cancelled this append; whether it is stored differs between runs.
    if (method.endsWith('Streams/Append') && end?.by === 'client') return;
    const call =
      calls.get(number) ??
      new ReplayedCall(method, clients, this.#positions.translate, line.metadata?.['requires-leader'] === 'true');
    calls.set(number, call);
    if (line.dir === 'request') call.send(line, isLate(line, ahead));
    else if (line.dir === 'response' && message !== undefined) await this.#compareAnswer(call, line, message);
    else if (line.dir === 'end') await this.#compareEnd(call, line);
  }

  async #compareAnswer(call: ReplayedCall, line: RecordedLine, message: JsonMessage): Promise<void> {
    const recorded = message.$same === 'server-features' ? this.#recordedFeatures() : message;
    const answer = await call.nextAnswer(recorded);
    // Two concurrent appends with one id: a real server gives both the same answer, or fails the second one.
    if (isGivenUp(recorded) && line.scenario.endsWith('-concurrent') && answer.success !== undefined) return;
    assertSameMessage(recorded, answer, this.#positions);
  }

  async #compareEnd(call: ReplayedCall, line: RecordedLine): Promise<void> {
    if (line.by === 'client') return call.cancel();
    const { code, details, metadata } = await call.ended();
    const recorded = { code: line.status?.code, details: line.status?.details };
    if (recorded.code === 10 && line.scenario.endsWith('-concurrent') && code === 0) return void call.answers.shift();
    assert.deepEqual(
      { code, details: code === 0 ? '' : details, trailers: trailersOf(metadata.getMap()) },
      { ...recorded, trailers: trailersOf(line.metadata ?? {}) },
    );
  }

  #recordedFeatures(): JsonMessage {
    this.#features ??=
      linesOf('session').find(({ dir, message }) => dir === 'response' && message?.methods !== undefined)?.message ??
      null;
    assert.ok(this.#features);
    return this.#features;
  }
}

/**
 * Unknown methods, because other servers answer them with their own texts, and the members of a cluster of three, of
 * which the double is one.
 */
function isLeftOut(scenario: string, method: string): boolean {
  const isOfCluster = scenario === 'server-not-ready' && method.endsWith('Gossip/Read');
  return method.endsWith('/NoSuchMethod') || method.startsWith('/no.such.Service/') || isOfCluster;
}

/** Whether the recorded answer to this append says that its deadline had passed. */
function isLate(line: RecordedLine, ahead: ReadonlyArray<RecordedLine>): boolean {
  const id = JSON.stringify(line.message?.correlationId);
  if (id === undefined || line.scenario.endsWith('-concurrent')) return false;
  const answer = ahead.find(({ dir, message }) => dir === 'response' && JSON.stringify(message?.correlationId) === id);
  return answer?.message !== undefined && isGivenUp(answer.message);
}

function isGivenUp(message: JsonMessage): boolean {
  return (message.error as JsonMessage | undefined)?.message === 'Timeout';
}

function trailersOf(metadata: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(trailers.flatMap((name) => (name in metadata ? [[name, metadata[name]]] : [])));
}

/** No further answers may come, except that the answered appends of a half-closed batch differ between runs. */
async function nothingMoreComes(calls: Iterable<ReplayedCall>): Promise<void> {
  await sleep(10);
  for (const { method, answers, isHalfClosed } of calls)
    if (!(isHalfClosed && method.endsWith('/BatchAppend')))
      assert.deepEqual(answers, [], `${method} answered more than was recorded.`);
}
