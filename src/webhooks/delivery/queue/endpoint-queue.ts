import type { DeliveryOutcome } from '#domain/webhook-endpoint/delivery.ts';
import { maxTriesOfEndpoint } from '#domain/webhook-endpoint/running-tries.ts';
import { chance } from '#shared/chance.ts';
import { clock, type Timer } from '#shared/clock.ts';
import type { DeliveryState, Message, OpenMessage } from '#webhooks/state/delivery-state.ts';
import { EndpointHealth, maxHoldMs, nextTryAt, type ReceiverRequest, retryForMs } from './endpoint-health.ts';
import { type MessageChanges, OpenMessages } from './open-messages.ts';

export const maxAtOnce = maxTriesOfEndpoint;
/** Applies while some messages were never tried. */
const maxRetriesAtOnce = 4;
/** At this number the queue begins no further message. */
export const maxOpen = 1_000;
/** Messages in memory whose delivery has not begun. */
const maxWaiting = 100;
const postponedMs = 5_000;

/**
 * The messages to one endpoint. The queue begins them in the order of the log, eight at the same time. A failed message
 * is retried separately and delays no other. A *live* queue gets each message as it is stored. A queue that is behind
 * gets the messages after its position when it has room for them.
 */
export class EndpointQueue<Result extends TryResult> {
  readonly #options: EndpointQueueOptions<Result>;
  readonly #open: OpenMessages;
  readonly #health: EndpointHealth;
  #waiting: Message[] = [];
  #isLive = false;
  /** For a live queue, the value from when the queue became live. */
  #offeredUpTo: number;
  #isEnabled: boolean;
  #isStopped = false;
  #replayedAt: number;
  #timer: Timer | null = null;
  #isClosed = false;

  constructor(options: EndpointQueueOptions<Result>) {
    const { state } = options;
    this.#options = options;
    this.#open = new OpenMessages(state.open);
    this.#offeredUpTo = state.position;
    this.#health = new EndpointHealth(state);
    this.#replayedAt = state.replayedAt;
    this.#isEnabled = options.isEnabled;
  }

  start(): void {
    this.#advance();
  }

  /** The state with every open message. */
  get state(): DeliveryState {
    return this.#stateWith(this.#open.list);
  }

  /** The state with only those open messages that have changed since the last call. */
  takeChanges(): DeliveryState & MessageChanges {
    return { ...this.#stateWith([]), ...this.#open.takeChanges() };
  }

  /** Takes back changes that could not be stored: the next `takeChanges` returns them again. */
  storeAgain(changes: MessageChanges): void {
    this.#open.storeAgain(changes);
  }

  /** The position up to which the delivery of every message has begun. */
  get position(): number {
    const [first] = this.#waiting;
    return first === undefined ? this.offeredUpTo : first.position - 1;
  }

  /** The position up to which every message was offered. */
  get offeredUpTo(): number {
    return this.#isLive ? Math.max(this.#options.followed(), this.#offeredUpTo) : this.#offeredUpTo;
  }

  get isLive(): boolean {
    return this.#isLive;
  }

  /** True if there is room for the messages after the offered ones. */
  get hasRoom(): boolean {
    return this.#isEnabled && !this.#isStopped && !this.#isLive && this.#waiting.length < maxWaiting;
  }

  get isEnabled(): boolean {
    return this.#isEnabled;
  }

  get isFailing(): boolean {
    return this.#health.failingSince !== null;
  }

  get openRetries(): number {
    return this.#open.failed;
  }

  get inFlight(): number {
    return this.#open.inFlight;
  }

  get running(): number {
    return this.#open.inFlight + this.#open.waitingTests;
  }

  /**
   * Offers messages in the order of the log. A live queue without room falls behind.
   * @returns false if the caller must offer it again later
   */
  offer(message: Message): boolean {
    if (message.position <= this.#offeredUpTo || this.#open.has(message.position)) return true;
    if (this.#waiting.length >= maxWaiting) {
      if (this.#isLive) this.#fallBehind(message.position - 1);
      return false;
    }
    this.#waiting.push(message);
    if (!this.#isLive) this.#offeredUpTo = message.position;
    this.#advance();
    return true;
  }

  /**
   * Notes that all messages up to the position were offered. The queue becomes live if the log was followed to there.
   */
  passTo(position: number): void {
    if (this.#isLive || !this.#isEnabled) return;
    if (position > this.#offeredUpTo) this.#offeredUpTo = position;
    this.#isLive = this.#offeredUpTo >= this.#options.followed();
  }

  /** Sends a message only once and before all others: immediately, or when one of eight running tries has ended. */
  test(message: Message): void {
    if (this.#open.has(message.position) || this.#isStopped) return;
    this.#open.keep({ ...message, attempts: 0, firstTriedAt: null, dueAt: clock.time(), isTest: true });
    this.#options.onChange();
    this.#beginTests(clock.time());
  }

  /** @param at the position of the request, which counts once @returns whether it went back */
  replay(after: number, at: number): boolean {
    if (at <= this.#replayedAt) return false;
    this.#replayedAt = at;
    const goesBack = after < this.position;
    if (goesBack) {
      this.#open.deleteAfter(after);
      this.#fallBehind(after);
    }
    this.#options.onChange();
    this.#advance();
    return goesBack;
  }

  /** Continues at its position with the open messages. */
  enable(): void {
    if (this.#isEnabled) return;
    this.#isEnabled = true;
    this.#health.reset();
    const now = clock.time();
    for (const message of this.#open.list) this.#open.keep({ ...message, firstTriedAt: null, dueAt: now });
    this.#options.onChange();
    this.#advance();
  }

  /** The queue stays at its position. Running tries end normally. */
  disable(): void {
    if (!this.#isEnabled) return;
    this.#fallBehind(this.position);
    this.#isEnabled = false;
    clock.clearTimeout(this.#timer);
    this.#options.onChange();
  }

  /** Begins no further try. */
  stop(): void {
    this.#isStopped = true;
    clock.clearTimeout(this.#timer);
  }

  /** Drops the results of tries that still run: the next term makes these tries again. */
  close(): void {
    this.stop();
    this.#isClosed = true;
  }

  #stateWith(open: ReadonlyArray<OpenMessage>): DeliveryState {
    return {
      position: this.position,
      open,
      failingSince: this.#health.failingSince,
      failures: this.#health.failures,
      replayedAt: this.#replayedAt,
      beganAtEndAt: this.#options.state.beganAtEndAt,
    };
  }

  #fallBehind(offeredUpTo: number): void {
    // The waiting messages will be offered again.
    const first = this.#waiting[0]?.position ?? Number.POSITIVE_INFINITY;
    if (offeredUpTo < first) this.#waiting = [];
    this.#offeredUpTo = offeredUpTo;
    this.#isLive = false;
  }

  /** Begins every try that may run now, and schedules the next call. */
  #advance(): void {
    if (this.#isStopped) return;
    const now = clock.time();
    this.#beginTests(now);
    if (!this.#isEnabled) return;
    for (let next = this.#next(now); next !== null; next = this.#next(now)) {
      this.#begin(next.message, next.isRetry);
    }
    this.#scheduleNext(now);
    if (this.hasRoom && this.#waiting.length <= maxWaiting / 2) this.#options.onRoom();
  }

  /** Tests are sent to a disabled or dead endpoint, too. */
  #beginTests(now: number): void {
    while (this.#open.waitingTests > 0 && this.#open.inFlight < maxAtOnce) {
      const test = this.#open.earliest(({ isTest, dueAt }) => isTest && dueAt <= now);
      if (test === null) return;
      this.#begin(test, false);
    }
  }

  /** The next message; null if none may be tried now. */
  #next(now: number): { readonly message: OpenMessage; readonly isRetry: boolean } | null {
    const { inFlight, retriesInFlight } = this.#open;
    if (inFlight >= (this.#health.isDead ? 1 : maxAtOnce) || now < this.#health.restsUntil) return null;
    const due = this.#open.earliest((message) => message.dueAt <= now);
    const isRoomForRetry = retriesInFlight < maxRetriesAtOnce;
    const [first] = this.#waiting;
    const canBegin = first !== undefined && this.#open.size < maxOpen;
    if (due !== null && (isRoomForRetry || !canBegin)) return { message: due, isRetry: true };
    if (!canBegin) return null;
    this.#waiting.shift();
    return { message: { ...first, attempts: 0, firstTriedAt: null, dueAt: now, isTest: false }, isRetry: false };
  }

  #scheduleNext(now: number): void {
    clock.clearTimeout(this.#timer);
    const { restsUntil } = this.#health;
    const canBegin = this.#waiting.length > 0 && this.#open.size < maxOpen;
    const dueAt = Math.min(
      this.#open.earliest()?.dueAt ?? Number.POSITIVE_INFINITY,
      canBegin ? restsUntil : Number.POSITIVE_INFINITY,
    );
    const at = Math.max(dueAt, restsUntil);
    // A message that is due but may not be tried now is considered again when a try ends.
    if (at > now && at < Number.POSITIVE_INFINITY) this.#timer = clock.setTimeout(() => this.#advance(), at - now);
  }

  #begin(message: OpenMessage, isRetry: boolean): void {
    this.#open.beginTry(message, isRetry);
    this.#options.onChange();
    void this.#try(message);
  }

  async #try({ position }: OpenMessage): Promise<void> {
    const begun = this.#open.get(position);
    if (begun === undefined) return;
    const result = await this.#options.deliver(begun);
    if (this.#isClosed) return;
    this.#open.endTry(position);
    // `enable` may have replaced the message during the try.
    const message = this.#open.get(position) ?? begun;
    if (isTry(result)) this.#options.onTried(message, message.attempts + 1, result, this.#settle(message, result));
    else if (result.kind === 'dropped') this.#open.delete(position);
    else this.#open.keep({ ...message, dueAt: clock.time() + postponedMs });
    this.#options.onChange();
    this.#advance();
  }

  /** Settles a message after a try. @returns its outcome */
  #settle(message: OpenMessage, { kind, receiverRequest }: TryResult): DeliveryOutcome {
    if (kind === 'delivered') {
      this.#open.delete(message.position);
      this.#succeeded();
      return 'delivered';
    }
    if (receiverRequest?.isGone) this.#disableBecause('gone');
    if (message.isTest) {
      this.#open.delete(message.position);
      return 'given-up';
    }
    return this.#failed(message, receiverRequest ?? null);
  }

  #succeeded(): void {
    const now = clock.time();
    // The endpoint answers again, so messages need not wait for their long pauses.
    if (this.#health.isDead) for (const message of this.#open.list) this.#open.keep({ ...message, dueAt: now });
    this.#health.recordSuccess();
  }

  #failed(message: OpenMessage, receiverRequest: ReceiverRequest | null): DeliveryOutcome {
    const now = clock.time();
    const attempts = message.attempts + 1;
    const firstTriedAt = message.firstTriedAt ?? now;
    const retryAfterMs = receiverRequest?.retryAfterMs ?? 0;
    this.#health.recordFailure(now);
    if (receiverRequest?.isForAll) this.#health.holdUntil(now + Math.min(retryAfterMs, maxHoldMs));
    const isExhausted = this.#health.isExhausted(now);
    if (!isExhausted && now - firstTriedAt >= retryForMs) {
      this.#open.delete(message.position);
      return 'given-up';
    }
    const dueAt = nextTryAt({ attempts, firstTriedAt, now, retryAfterMs, random: chance.random() });
    this.#open.keep({ ...message, attempts, firstTriedAt, dueAt });
    if (isExhausted) this.#disableBecause('failing');
    return 'failed';
  }

  #disableBecause(reason: DisabledByAnswers): void {
    if (!this.#isEnabled) return;
    this.disable();
    this.#options.onDisabled(reason);
  }
}

function isTry<Result extends TryResult>(result: Result): result is Result & { readonly kind: 'delivered' | 'failed' } {
  return result.kind === 'delivered' || result.kind === 'failed';
}

/**
 * `postponed`: no try was made, because the message could not be made or sent now. `dropped`: there is no further try,
 * because the event is not a message any more.
 */
export interface TryResult {
  readonly kind: 'delivered' | 'failed' | 'postponed' | 'dropped';
  /** What the answer of the receiver asks for. */
  readonly receiverRequest?: ReceiverRequest | null;
}

/** All tries have failed for three days, or the receiver wants no more messages. */
export type DisabledByAnswers = 'failing' | 'gone';

export interface EndpointQueueOptions<Result extends TryResult> {
  readonly state: DeliveryState;
  readonly isEnabled: boolean;
  /** The position up to which the log was followed. A live queue was offered every message up to it. */
  readonly followed: () => number;
  /** Delivers a message. Never rejects. */
  readonly deliver: (message: OpenMessage) => Promise<Result>;
  /** @param attempt from 1 */
  readonly onTried: (
    message: Message,
    attempt: number,
    result: Result & { readonly kind: 'delivered' | 'failed' },
    outcome: DeliveryOutcome,
  ) => void;
  readonly onChange: () => void;
  /** Called when the queue has room for messages after its position. */
  readonly onRoom: () => void;
  readonly onDisabled: (reason: DisabledByAnswers) => void;
}
