import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import type { Entity, EventOf } from '#domain/shared/entity.ts';
import type { EventStore, RecordedEvent } from '#event-store/event-store.ts';
import type { Process } from '#process-engine/process.ts';
import { ProcessCheckpoints } from '#process-engine/process-checkpoints.ts';
import { ProcessHost } from '#process-engine/process-host.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { origin } from '#test/support/events/organization-events.ts';
import { tenants } from '#test/support/events/tenants.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { FollowedPositions } from '#test/support/fakes/followed-positions.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { InMemoryRecordStore } from '#test/support/fakes/in-memory-record-store.ts';
import { tailInMemory } from '#test/support/log/tail-of.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedNode, SimulatedTime } from '#test/worlds/simulated-time.ts';

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const [tenant] = Object.values(tenants);

/** A node that runs the process, until it is killed or left. */
interface Term {
  readonly host: ProcessHost;
  readonly node: SimulatedNode;
}

/**
 * A process over a read model that lags, in several terms. Appends take time, and are stored although their node is dead;
 * some answers are lost. A seed gives the same run.
 */
export class LaggingWorld implements AsyncDisposable {
  readonly random: Random;
  readonly time: SimulatedTime;
  readonly store = new AppendableEventStore();
  readonly #process: Process;
  readonly #records = new InMemoryRecordStore();
  /** The events that the read model shows. */
  readonly #shown: RecordedEvent[] = [];
  readonly #documents = new ReadModel(this.#shown);
  readonly #network = new SimulatedNode('network');
  #maxLagMs: number;
  #maxAppendMs: number;
  readonly #writer = new StreamWriter({ store: this.store });
  readonly #terms: Term[] = [];

  constructor(process: Process, seed: number) {
    this.random = new Random(seed);
    this.time = new SimulatedTime(this.random).install();
    this.#process = process;
    this.#maxLagMs = this.random.pick([0, 50, 500, 5_000]);
    this.#maxAppendMs = this.random.pick([0, 20, 500]);
    void this.#show();
  }

  /** Appends events to a stream, whatever its state is: a command may have decided on an older one. */
  async append<State, Events>(
    entity: Entity<State, Events>,
    id: string,
    events: ReadonlyArray<EventOf<Events>>,
  ): Promise<void> {
    const decide = () => E.right({ events, tenant: tenant ?? null });
    const appended = this.#writer.write({ entity, id, origin, decide });
    let isDone = false;
    void appended.finally(() => {
      isDone = true;
    });
    await this.time.passUntil(() => isDone, 10_000);
    assert.ok(E.isRight(await appended));
  }

  /** Begins a term on another node. The one before is dead, or works on without knowing that its lease is lost. */
  nextTerm(): void {
    const before = this.#terms.at(-1);
    if (before !== undefined && this.random.isTrue(0.5)) this.time.kill(before.node);
    const token = this.#terms.length + 1;
    const node = new SimulatedNode(`node ${token}`);
    const host = this.time.runOn(node, () => this.#newHost(token));
    this.#terms.push({ host, node });
    this.time.runOn(node, () => host.start());
    // The loser of a lease notices it later.
    if (before !== undefined) this.time.in(this.random.below(300), () => void before.host.stop());
  }

  /** Begins the first term, and waits until the read model shows what is stored. */
  async begin(): Promise<void> {
    this.nextTerm();
    await this.time.passUntil(() => this.#shown.length === this.store.log.length, 600_000);
  }

  /** Lets everything happen that is still to come. The stores are faster from now on. */
  async settle(): Promise<void> {
    this.#maxLagMs = Math.min(this.#maxLagMs, 20);
    this.#maxAppendMs = Math.min(this.#maxAppendMs, 20);
    await this.time.pass(20_000);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { host } of this.#terms) void host.stop();
    await this.time.pass(1_000);
    this.time[Symbol.dispose]();
  }

  #newHost(token: number): ProcessHost {
    const store: EventStore = {
      append: (...append) => this.#call(() => this.time.runOn(this.#network, () => this.#append(append))),
      read: (...read) => this.#call(() => this.store.read(...read)),
      lastPosition: () => this.#call(() => this.store.lastPosition()),
      close: async () => undefined,
    };
    const checkpoints = new ProcessCheckpoints(this.#records);
    return new ProcessHost({
      processes: [this.#process],
      store,
      tail: tailInMemory(this.store),
      writer: new StreamWriter({ store }),
      documents: this.#documents,
      waitForPosition: (_, position, { ms }) => this.#isShown(position, ms),
      // As under a lease, whose token fences the checkpoints.
      checkpoints: {
        take: (_, log) => checkpoints.take(token, log),
        save: (_, record) => checkpoints.save(token, { ...record, token }),
      },
      positions: new FollowedPositions(),
      leases: null,
      node: `node ${token}`,
      saveIntervalMs: 200,
      log: quiet,
    });
  }

  async #append(append: Parameters<EventStore['append']>): ReturnType<EventStore['append']> {
    await this.time.wait(this.random.below(this.#maxAppendMs + 1));
    return this.store.append(...append);
  }

  /** A dead node calls nothing, and gets no answer. Some answers are lost. */
  async #call<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    await this.time.wait(0);
    const answer = await call();
    await this.time.wait(this.random.below(3));
    if (this.random.isTrue(0.05)) throw new UnavailableError('The answer was lost.');
    return answer;
  }

  async #isShown(position: number, ms: number): Promise<boolean> {
    for (let waited = 0; (this.#shown.at(-1)?.position ?? 0) < position; waited += 10) {
      if (waited >= ms) return false;
      await this.time.wait(10);
    }
    return true;
  }

  async #show(): Promise<void> {
    for (;;) {
      await this.time.wait(this.random.below(this.#maxLagMs + 1) + 10);
      const count = this.random.below(this.store.log.length - this.#shown.length + 1);
      this.#shown.push(...this.store.log.slice(this.#shown.length, this.#shown.length + count));
    }
  }
}
