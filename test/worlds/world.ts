import assert from 'node:assert/strict';
import { bootstrap, createFirstKey } from '#app/startup/bootstrap.ts';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import { DigestFolder } from '#digests/digest-folder.ts';
import type { ApiKeyEvents } from '#domain/api-key/events.ts';
import { type Caller, scopesOfKeyType } from '#domain/shared/access.ts';
import { WorldClient } from './client.ts';
import { type DirectedFaultsOptions, directedFaults, lastDisturbance } from './directed-faults.ts';
import { DigestFilesInMemory } from './doubles/digest-files-in-memory.ts';
import { findProblems } from './findings/find-problems.ts';
import { HeldLeases } from './findings/held-leases.ts';
import { LeftTerms } from './findings/left-terms.ts';
import { WorldHistory } from './history.ts';
import { Outside } from './outside.ts';
import { Random } from './random.ts';
import { Reach } from './reach.ts';
import { Scenario, worldTable } from './scenario.ts';
import { SimulatedTime } from './simulated-time.ts';
import { SharedStores, type Surroundings } from './surroundings.ts';
import { countCompressions } from './thread-pool.ts';
import { someFates, Weather } from './weather.ts';
import { WorldNode } from './world-node.ts';

/** What a world has shown. */
export interface WorldResult {
  readonly seed: number;
  /** A line for each call, log line of a node and answer to a client. */
  readonly lines: ReadonlyArray<string>;
  /** What is wrong; nothing if all is well. */
  readonly problems: ReadonlyArray<string>;
  /** The world's time at its end. */
  readonly endedAt: number;
}

/** Everything must have reacted this long after the last fault. */
const reactionMs = 30_000;
const stopMs = 5_500;
const startLimitMs = 60_000;
const restMs = 30_000;
const storeNames = [
  'leases',
  'records',
  'events',
  'documents',
  'read-models',
  'polled',
  'blobs',
  'subject-keys',
  'deliveries',
];

/** Runs a world. The same seed gives the same lines. */
export async function runWorld(seed: number): Promise<WorldResult> {
  countCompressions();
  using time = new SimulatedTime(new Random(seed)).install();
  const world = new World(seed, time);
  return await world.run();
}

class World {
  readonly #seed: number;
  readonly #time: SimulatedTime;
  readonly #random: Random;
  readonly #weather: Weather;
  readonly #lines: string[] = [];
  readonly #problems: string[] = [];
  readonly #shared = new SharedStores();
  readonly #digestFiles = new DigestFilesInMemory();
  readonly #outside: Outside;
  readonly #heldLeases: HeldLeases;
  readonly #leftTerms: LeftTerms;
  readonly #surroundings: Surroundings;
  readonly #nodes: WorldNode[] = [];
  #started = 0;
  readonly #history = new WorldHistory();

  constructor(seed: number, time: SimulatedTime) {
    this.#seed = seed;
    this.#time = time;
    this.#random = new Random(seed ^ 0x5eed);
    this.#weather = new Weather(this.#random);
    const note = (line: string) => void this.#lines.push(line);
    this.#heldLeases = new HeldLeases(time);
    this.#leftTerms = new LeftTerms(time);
    this.#outside = new Outside({ random: this.#random, now: () => time.now, note });
    this.#surroundings = {
      time,
      shared: this.#shared,
      reach: new Reach({
        time,
        weather: this.#weather,
        note,
        onFault: (fault) => {
          this.#history.faults.push(fault);
          this.#leftTerms.hadFault(fault.fate);
        },
      }),
      lineCalls: this.#outside.lineCalls,
      createSender: this.#outside.createSender,
      digestFolder: new DigestFolder(this.#digestFiles.path, this.#digestFiles),
      onTerm: (lease) => void this.#history.terms.push({ at: time.now, lease }),
      heldLeases: this.#heldLeases,
      onLine: (node, level, fields, message) => {
        this.#leftTerms.onLine(node, message, fields);
        this.#history.onLine(message, fields);
        note(`${time.now.toFixed(3)} ${node} ${level} ${message} ${textOf(fields)}`);
      },
    };
  }

  async run(): Promise<WorldResult> {
    const caller = await this.#begin();
    const count = 2 + this.#random.below(2);
    for (let index = 0; index < count; index += 1) this.#startNode();
    await this.#until(() => this.#running.length === count, startLimitMs, 'the nodes have not started');
    if (this.#problems.length > 0) return this.#result();
    const client = new WorldClient({
      time: this.#time,
      random: this.#random,
      caller,
      nodes: () => this.#running,
      note: (line) => void this.#lines.push(line),
    });
    const scenario = new Scenario({
      time: this.#time,
      random: this.#random,
      client,
      caller,
      nodes: () => this.#running,
    });
    let isPlayed = false;
    void scenario.play(14 + this.#random.below(10), 1_200).then(() => {
      isPlayed = true;
    });
    let isCalm = false;
    void Promise.all([this.#disturb(2 + this.#random.below(5), scenario), this.#interrupt(10 + this.#random.below(15))])
      .then(() => this.#calm())
      .then(() => {
        isCalm = true;
      });
    await this.#until(() => isPlayed && isCalm, 600_000, 'the clients got no answers');
    let isLastDone = false;
    void lastDisturbance(this.#random, this.#directed(scenario)).then(() => {
      isLastDone = true;
    });
    await this.#until(() => isLastDone, 600_000, 'the last disturbance has not ended');
    const shared = this.#shared;
    const check = () =>
      findProblems({ shared, outside: this.#outside, digestFiles: this.#digestFiles, history: this.#history });
    // What waits for a call that is never answered reacts after the limit of its port.
    const { reach } = this.#surroundings;
    await this.#until(
      () => check().length === 0,
      reactionMs + Math.max(0, reach.unansweredUntil - this.#time.now),
      null,
    );
    this.#problems.push(...check());
    await this.#end();
    return this.#result();
  }

  #result(): WorldResult {
    return { seed: this.#seed, lines: this.#lines, problems: this.#problems, endedAt: this.#time.now };
  }

  get #running(): ReadonlyArray<WorldNode> {
    return this.#nodes.filter(({ isRunning }) => isRunning);
  }

  /** Makes the first organization, project and key. */
  async #begin(): Promise<Caller> {
    const writer = new StreamWriter({ store: this.#shared.events });
    const key = createFirstKey(`sy_live_${'a'.repeat(43)}`, () => undefined);
    await bootstrap(writer, key);
    const made = this.#shared.events.log.find(({ type }) => type === 'ApiKeyCreated');
    assert.ok(made);
    const { id, projectId, organizationId } = made.data as unknown as ApiKeyEvents['ApiKeyCreated'];
    const keyType = 'admin';
    const scopes = new Set(scopesOfKeyType[keyType]);
    return { keyId: id, keyType, organizationId, projectId, partnerId: organizationId, scopes, hasAllScopes: true };
  }

  #startNode(): void {
    this.#started += 1;
    const node = new WorldNode(`node-${this.#started}`, this.#surroundings);
    this.#nodes.push(node);
    node.start(worldTable);
  }

  async #disturb(count: number, scenario: Scenario): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      await this.#time.wait(this.#random.next() * 4_000);
      await this.#disturbOnce(scenario);
      this.#replaceFailed();
    }
  }

  /** Disturbs a few kinds of calls at a time, for moments. */
  async #interrupt(count: number): Promise<void> {
    const random = this.#random;
    for (let index = 0; index < count; index += 1) {
      await this.#time.wait(random.next() * 600);
      const { kinds } = this.#surroundings.reach;
      const calls = new Set(Array.from({ length: 1 + random.below(4) }, () => random.pick(kinds)));
      const lastsMs = 50 + 1_500 * random.next();
      this.#lines.push(`${this.#time.now.toFixed(3)} calls of ${[...calls]} fail for ${lastsMs.toFixed(0)} ms`);
      const rate = 0.3 + 0.7 * random.next();
      const end = this.#weather.begin({ node: null, calls, rate, fates: someFates(random), slowMs: 0 });
      await this.#time.wait(lastsMs);
      end();
    }
  }

  async #calm(): Promise<void> {
    this.#weather.clear();
    this.#outside.lostShare = 0;
    for (const { machine } of this.#nodes) this.#time.thaw(machine);
    while (this.#running.length < 2) {
      this.#replaceFailed();
      await this.#time.wait(500);
    }
  }

  async #disturbOnce(scenario: Scenario): Promise<void> {
    const random = this.#random;
    const node = this.#running.length === 0 ? null : random.pick(this.#running);
    const lastsMs = 500 + random.next() * 7_000;
    const note = (what: string) =>
      void this.#lines.push(`${this.#time.now.toFixed(3)} ${what} for ${lastsMs.toFixed(0)} ms`);
    const stores = random.isTrue(0.4) ? null : new Set(storeNames.filter(() => random.isTrue(0.4)));
    const where = random.isTrue(0.5) ? null : (node?.name ?? null);
    const during = async (disturbance: Omit<Parameters<Weather['begin']>[0], 'node' | 'calls'>) => {
      const end = this.#weather.begin({ node: where, calls: stores, ...disturbance });
      await this.#time.wait(lastsMs);
      end();
    };
    const kinds = [
      async () => {
        note(`calls of ${where} to ${stores === null ? 'all' : [...stores]} fail`);
        await during({ rate: 0.1 + 0.7 * random.next(), fates: someFates(random), slowMs: 0 });
      },
      async () => {
        note(`calls of ${where} to ${stores === null ? 'all' : [...stores]} are slow`);
        await during({ rate: 0, fates: [], slowMs: 100 + 900 * random.next() });
      },
      async () => {
        note(`${where} is cut off from ${stores === null ? 'all' : [...stores]}`);
        await during({ rate: 1, fates: ['lost'], slowMs: 0 });
      },
      async () => {
        if (node === null) return;
        note(`${node.name} is frozen`);
        this.#time.freeze(node.machine);
        this.#leftTerms.isFrozenFor(lastsMs);
        await this.#time.wait(lastsMs);
        this.#time.thaw(node.machine);
      },
      async () => {
        if (node === null) return;
        note(`${node.name} is killed`);
        this.#time.kill(node.machine);
        await this.#time.wait(lastsMs / 4);
        this.#startNode();
      },
      async () => {
        if (node === null) return;
        note(`${node.name} is stopped`);
        await this.#stop(node);
        this.#startNode();
      },
      async () => {
        note('receivers and providers lose requests');
        this.#outside.lostShare = 0.1 + 0.4 * random.next();
        await this.#time.wait(lastsMs);
        this.#outside.lostShare = 0;
      },
      ...directedFaults(this.#directed(scenario)),
    ];
    await random.pick(kinds)();
  }

  #directed(scenario: Scenario): DirectedFaultsOptions {
    return {
      time: this.#time,
      random: this.#random,
      weather: this.#weather,
      shared: this.#shared,
      prepareCascade: () => scenario.prepareCascade(),
      writeDigest: () => scenario.writeDigest(),
      note: (what) => void this.#lines.push(`${this.#time.now.toFixed(3)} ${what}`),
    };
  }

  /** A supervisor starts a node again whose start has failed. */
  #replaceFailed(): void {
    for (const node of this.#nodes) {
      if (node.failure === null || node.machine.state === 'dead') continue;
      this.#lines.push(`${this.#time.now.toFixed(3)} ${node.name} has not started: ${String(node.failure)}`);
      this.#time.kill(node.machine);
      this.#startNode();
    }
  }

  /** Stops a node as a signal does, and ends it. */
  async #stop(node: WorldNode): Promise<void> {
    let hasStopped = false;
    void node.stop().then(
      () => {
        hasStopped = true;
      },
      (error: unknown) => {
        hasStopped = true;
        this.#problems.push(`${node.name} has failed to stop: ${String(error)}`);
      },
    );
    const until = this.#time.now + stopMs;
    while (!hasStopped && this.#time.now < until && node.machine.state !== 'dead') await this.#time.wait(50);
    if (!hasStopped) this.#lines.push(`${this.#time.now.toFixed(3)} ${node.name} did not stop in time and is ended`);
    this.#time.kill(node.machine);
  }

  /** Stops everything without faults. Then nothing may be left. */
  async #end(): Promise<void> {
    const isSettled = ({ machine, startedAt, failure }: WorldNode) =>
      machine.state === 'dead' || startedAt !== null || failure !== null;
    await this.#until(() => this.#nodes.every(isSettled), startLimitMs, 'a node has not started');
    // A process whose start has failed has ended.
    for (const { machine, failure } of this.#nodes) if (failure !== null) this.#time.kill(machine);
    this.#weather.clear();
    // Work that waits for a late answer would be left.
    await this.#time.pass(Math.max(0, this.#surroundings.reach.badUntil - this.#time.now));
    for (const node of this.#running) {
      const stopped: string[][] = [];
      void node.stop().then((left) => stopped.push([...left]));
      await this.#until(() => stopped.length > 0, stopMs, `${node.name} has not stopped`);
      const left = stopped.flat();
      if (left.length > 0) this.#problems.push(`${node.name} has left ${left.join(', ')}`);
    }
    await this.#time.pass(restMs);
    if (this.#time.waiting > 0) this.#problems.push(`${this.#time.waiting} timers are left`);
    this.#problems.push(...this.#heldLeases.problems, ...this.#leftTerms.problems);
  }

  async #until(holds: () => boolean, limitMs: number, problem: string | null): Promise<void> {
    let looked = Number.NEGATIVE_INFINITY;
    const heldLately = () => {
      if (this.#time.now - looked < 250) return false;
      looked = this.#time.now;
      return holds();
    };
    if (!(await this.#time.passUntil(heldLately, limitMs)) && !holds() && problem !== null)
      this.#problems.push(`${this.#time.now.toFixed(0)}: ${problem}`);
  }
}

function textOf(fields: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(fields, (_, value: unknown) => (value instanceof Error ? value.stack : value));
}
