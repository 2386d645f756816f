import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { KeyFollower } from '#application/access/key-follower.ts';
import { KeyResolver, type KeyUse } from '#application/access/key-resolver.ts';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import { apiKey } from '#domain/api-key/api-key.ts';
import { storedFormOfKey } from '#domain/api-key/secret.ts';
import { ChangeListener } from '#event-store/change-notifications.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { apiKeyCreated, apiKeyRotated } from '#test/support/events/tenant-events.ts';
import { tenants } from '#test/support/events/tenants.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { tailOf } from '#test/support/log/tail-of.ts';
import { itInRounds } from '#test/support/run/long.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

const keys = 3;
const changesOfKey = 12;
const uses: ReadonlyArray<KeyUse> = ['streaming', 'query', 'command'];
const origin = { actor: { keyId: 'system', keyType: 'system' }, requestId: 'r', correlationId: 'r', causationId: 'r' };

interface NewSecret {
  readonly text: string;
  /** Whether the other node followed the log before the secret was issued. */
  readonly isFollowed: boolean;
}

/**
 * Two nodes: one makes and rotates keys, the other one resolves them over links of random latency. Its read model is filled by
 * a projector that pauses and that is silent at first.
 */
class TwoNodes {
  readonly #time: SimulatedTime;
  readonly #random: Random;
  readonly #store = new AppendableEventStore();
  readonly #writer = new StreamWriter({ store: this.#store });
  /** What the read model contains. */
  readonly #shown: RecordedEvent[] = [];
  readonly #documents = new ReadModel(this.#shown);
  /** The position that the read model has published; null before the first time. */
  #published: number | null = null;
  #isFilled = true;
  #hasEnded = false;
  readonly #resolver: KeyResolver;
  readonly #follower: KeyFollower;
  readonly #tail;
  accepted = 0;
  refused: string[] = [];

  constructor(time: SimulatedTime, random: Random) {
    this.#time = time;
    this.#random = random;
    const changes = new ChangeListener();
    this.#store.changes.notify = (position) => time.in(random.below(100), () => changes.notify(position));
    const far = {
      changes,
      readPage: this.#overLink(this.#store.readPage.bind(this.#store)),
      lastPosition: this.#overLink(this.#store.lastPosition.bind(this.#store)),
      eventAt: this.#overLink(this.#store.eventAt.bind(this.#store)),
      read: this.#overLink(this.#store.read.bind(this.#store)),
    };
    this.#tail = tailOf(far);
    this.#follower = new KeyFollower({ tail: this.#tail, store: far, beginAfter: () => this.#published });
    const get: ReadModel['get'] = async (collection, id) => {
      if (!this.#isFilled) throw new UnavailableError('The read model is being filled.');
      return this.#documents.get(collection, id);
    };
    this.#resolver = new KeyResolver({
      writer: new StreamWriter({ store: { ...far, append: this.#store.append, close: this.#store.close } }),
      follower: this.#follower,
      documents: { get: this.#overLink(get) as typeof get },
      usage: { touch: () => undefined },
    });
    this.#follower.listen(this.#resolver.see);
    this.#follower.start();
  }

  async run(): Promise<void> {
    const background = [this.#project(), this.#refill()];
    await Promise.all(Array.from({ length: keys }, (_, index) => this.#changeKey(`ckey${index}0000000001`)));
    this.#hasEnded = true;
    await Promise.all(background);
    await this.#follower.stop();
    await this.#tail.close();
  }

  async #changeKey(keyId: string): Promise<void> {
    const random = this.#random;
    let last: NewSecret | null = null;
    for (let change = 0; change < changesOfKey; change += 1) {
      const secret = { text: this.#secret(), isFollowed: this.#follower.hasBegun };
      // Somebody knows the secret before it works.
      const guesses = random.isTrue(0.3) ? this.#guessUntilAnswered(secret.text) : null;
      if (guesses !== null) await this.#time.wait(random.below(300));
      await this.#append(keyId, this.#event(keyId, secret.text, last !== null));
      guesses?.end();
      const asked = Array.from({ length: 1 + random.below(2) }, () => this.#expectAccepted(secret));
      if (last !== null && random.isTrue(0.5)) asked.push(this.#expectAccepted(last));
      await Promise.all(asked);
      last = secret;
      await this.#time.wait(random.below(300));
    }
  }

  #event(keyId: string, secret: string, isRotation: boolean): object {
    const previousValidUntil = new Date(clock.time() + 3_600_000).toISOString();
    if (isRotation) return apiKeyRotated(secret, { id: keyId, previousValidUntil });
    return apiKeyCreated({ id: keyId, ...storedFormOfKey(secret) });
  }

  async #append(id: string, event: object): Promise<void> {
    const decide = () => E.right({ events: [event as never], tenant: tenants.project });
    assert.ok(E.isRight(await this.#writer.write({ entity: apiKey, id, origin, decide })));
    // The answer to the writer takes its time, too.
    await this.#time.wait(this.#random.below(5));
  }

  #guessUntilAnswered(secret: string): { readonly end: () => void } {
    let isAnswered = false;
    const guess = async () => {
      while (!isAnswered) {
        await this.#resolver.resolve(secret, 'query').catch(ignoreUnavailable);
        await this.#time.wait(this.#random.below(20));
      }
    };
    void guess();
    return {
      end: () => {
        isAnswered = true;
      },
    };
  }

  async #expectAccepted({ text, isFollowed }: NewSecret): Promise<void> {
    const at = this.#time.now;
    const use = this.#random.pick(uses);
    try {
      if ((await this.#resolver.resolve(text, use)) === null) this.refused.push(`${use} at ${at}`);
      else this.accepted += 1;
    } catch (error) {
      // What was stored before the node followed the log is in the read model alone.
      if (isFollowed) throw error;
      ignoreUnavailable(error);
    }
  }

  /** Fills the read model, soon or late, and publishes its position afterwards. */
  async #project(): Promise<void> {
    const random = this.#random;
    while (!this.#hasEnded) {
      await this.#time.wait(random.isTrue(0.05) ? random.below(2_000) : random.below(30));
      this.#shown.push(...this.#store.log.slice(this.#shown.length));
      const position = this.#shown.at(-1)?.position ?? 0;
      if (this.#time.now > 500) this.#time.in(random.below(50), () => this.#publish(position));
    }
  }

  #publish(position: number): void {
    this.#published = Math.max(this.#published ?? 0, position);
  }

  async #refill(): Promise<void> {
    while (!this.#hasEnded) {
      await this.#time.wait(this.#random.below(2_000));
      this.#isFilled = false;
      await this.#time.wait(this.#random.below(200));
      this.#isFilled = true;
    }
  }

  #secret(): string {
    return `sy_live_${this.#random.uuid().replaceAll('-', '')}`;
  }

  /** The request and the answer each take up to 10 ms, and sometimes longer. */
  #overLink<Input extends ReadonlyArray<unknown>, Output>(
    call: (...input: Input) => Promise<Output>,
  ): (...input: Input) => Promise<Output> {
    const latency = () => this.#random.below(this.#random.isTrue(0.1) ? 80 : 10);
    return async (...input) => {
      await this.#time.wait(latency());
      const [outcome] = await Promise.allSettled([call(...input)]);
      await this.#time.wait(latency());
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value;
    };
  }
}

function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof UnavailableError)) throw error;
}

describe('A secret that another node has just made', () => {
  itInRounds('works immediately', { few: 20, many: 500 }, async (rounds) => {
    for (let seed = 1; seed <= rounds; seed += 1) {
      const random = new Random(seed);
      using time = new SimulatedTime(random).install();
      const nodes = new TwoNodes(time, random);
      let outcome: unknown = null;
      nodes.run().then(
        () => {
          outcome = 'ended';
        },
        (error: unknown) => {
          outcome = error;
        },
      );
      assert.ok(await time.passUntil(() => outcome !== null, 600_000), `seed ${seed} does not end`);
      assert.equal(outcome, 'ended', `seed ${seed}`);
      assert.deepEqual(nodes.refused, [], `seed ${seed}`);
      assert.ok(nodes.accepted >= (keys * changesOfKey) / 2, String(nodes.accepted));
    }
  });
});
