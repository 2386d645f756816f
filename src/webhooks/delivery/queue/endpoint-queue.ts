import type { DeliveryOutcome } from '#domain/webhook-endpoint/delivery.ts';
import type { DeliveryState, Message, OpenMessage } from '#webhooks/state/delivery-state.ts';
import { EndpointHealth } from './endpoint-health.ts';
import { OpenMessages } from './open-messages.ts';
import type { QueueClock } from './queue-clock.ts';
import type { DisabledByAnswers, EndpointQueueOptions, TryResult } from './queue-options.ts';
import type { ReceiverRequest } from './receiver-request.ts';
import { longestHoldMs, nextTryAt, retryForMs } from './retry-schedule.ts';

/** Messages to one endpoint that are tried at once. */
export const maxAtOnce = 8;
/** Of them retries, while there are messages that were never tried. */
const maxRetriesAtOnce = 4;
/** Messages that were begun and are not delivered; with so many the endpoint waits at its position. */
export const maxOpen = 1_000;
/** Messages in memory that were not begun. */
const maxWaiting = 100;
const postponedMs = 5_000;

/**
 * The messages to one endpoint. They begin in the order of the log, eight at once. One that fails is tried again on its
 * own and holds up nothing. A queue that is *live* is offered each message as it is stored; one that is behind reads them
 * after its position, as it has room for them.
 */
export class EndpointQueue<Result extends TryResult> {
  readonly #options: EndpointQueueOptions<Result>;
  readonly #clock: QueueClock;
  readonly #open: OpenMessages;
  readonly #health: EndpointHealth;
  #waiting: Message[] = [];
  #isLive = false;
  /** Everything up to it was offered; of a live queue what it was when the queue became live. */
  #offeredUpTo: number;
  #isEnabled: boolean;
  #isStopped = false;
  #replayedAt: number;
  #cancelTimer: () => void = () => undefined;

  constructor(options: EndpointQueueOptions<Result>) {
    const { state } = options;
    this.#options = options;
    this.#clock = options.clock;
    this.#open = new OpenMessages(state.open);
    this.#offeredUpTo = state.position;
    this.#health = new EndpointHealth(state);
    this.#replayedAt = state.replayedAt;
    this.#isEnabled = options.isEnabled;
  }

  /** Begins to deliver what its state has open. */
  start(): void {
    this.#advance();
  }

  /** What is to be stored of it. */
  get state(): DeliveryState {
    return {
      position: this.position,
      open: this.#open.list,
      failingSince: this.#health.failingSince,
      failures: this.#health.failures,
      replayedAt: this.#replayedAt,
      beganAtEndAt: this.#options.state.beganAtEndAt,
    };
  }

  /** Everything up to it was begun. */
  get position(): number {
    const [first] = this.#waiting;
    return first === undefined ? this.offeredUpTo : first.position - 1;
  }

  /** Everything up to it was offered. */
  get offeredUpTo(): number {
    return this.#isLive ? Math.max(this.#options.followed(), this.#offeredUpTo) : this.#offeredUpTo;
  }

  get isLive(): boolean {
    return this.#isLive;
  }

  /** Whether it wants the messages after what it was offered. */
  get hasRoom(): boolean {
    return this.#isEnabled && !this.#isStopped && !this.#isLive && this.#waiting.length < maxWaiting;
  }

  get isEnabled(): boolean {
    return this.#isEnabled;
  }

  /** Whether the last try has failed. */
  get isFailing(): boolean {
    return this.#health.failingSince !== null;
  }

  /** Messages whose tries have failed and that are tried again. */
  get openRetries(): number {
    return this.#open.failed;
  }

  /** Tries under way. */
  get inFlight(): number {
    return this.#open.inFlight;
  }

  /**
   * Takes the next message in the order of the log. A live queue that has no room for it falls behind.
   * @returns false where it must be offered again later
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

  /** Everything up to a position was offered to a queue that is behind. It becomes live where the log was followed to. */
  passTo(position: number): void {
    if (this.#isLive || !this.#isEnabled) return;
    if (position > this.#offeredUpTo) this.#offeredUpTo = position;
    this.#isLive = this.#offeredUpTo >= this.#options.followed();
  }

  /** Sends a message at once and once, whatever else is to be sent. */
  test(message: Message): void {
    if (this.#open.has(message.position) || this.#isStopped) return;
    const open = { ...message, attempts: 0, firstTriedAt: null, dueAt: this.#clock.now(), isTest: true };
    this.#begin(open, false);
  }

  /** Goes back to a position. @param at the position of the request, which is obeyed once @returns whether it went back */
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

  /** Continues at its position, with what was open. */
  enable(): void {
    if (this.#isEnabled) return;
    this.#isEnabled = true;
    this.#health.reset();
    const now = this.#clock.now();
    for (const message of this.#open.list) this.#open.keep({ ...message, firstTriedAt: null, dueAt: now });
    this.#options.onChange();
    this.#advance();
  }

  /** Stays at its position. What is under way ends. */
  disable(): void {
    if (!this.#isEnabled) return;
    this.#fallBehind(this.position);
    this.#isEnabled = false;
    this.#cancelTimer();
    this.#options.onChange();
  }

  /** Begins nothing more. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
  }

  #fallBehind(offeredUpTo: number): void {
    // Those that wait are offered again.
    const first = this.#waiting[0]?.position ?? Number.POSITIVE_INFINITY;
    if (offeredUpTo < first) this.#waiting = [];
    this.#offeredUpTo = offeredUpTo;
    this.#isLive = false;
  }

  /** Begins what may begin, and comes back when more is due. */
  #advance(): void {
    if (!this.#isEnabled || this.#isStopped) return;
    const now = this.#clock.now();
    for (let next = this.#next(now); next !== null; next = this.#next(now)) {
      this.#begin(next.message, next.isRetry);
    }
    this.#comeBackWhenDue(now);
    if (this.hasRoom && this.#waiting.length <= maxWaiting / 2) this.#options.onRoom();
  }

  /** The next message to try; null where none may be tried now. */
  #next(now: number): { readonly message: OpenMessage; readonly isRetry: boolean } | null {
    const { tries, retries } = this.#open.countTries();
    if (tries >= (this.#health.isDead ? 1 : maxAtOnce) || now < this.#health.restsUntil) return null;
    const due = this.#open.earliest((message) => message.dueAt <= now);
    const isRoomForRetry = retries < maxRetriesAtOnce;
    const [first] = this.#waiting;
    const canBegin = first !== undefined && this.#open.size < maxOpen;
    if (due !== null && (isRoomForRetry || !canBegin)) return { message: due, isRetry: true };
    if (!canBegin) return null;
    this.#waiting.shift();
    return { message: { ...first, attempts: 0, firstTriedAt: null, dueAt: now, isTest: false }, isRetry: false };
  }

  #comeBackWhenDue(now: number): void {
    this.#cancelTimer();
    const { restsUntil } = this.#health;
    const canBegin = this.#waiting.length > 0 && this.#open.size < maxOpen;
    const dueAt = Math.min(
      this.#open.earliest()?.dueAt ?? Number.POSITIVE_INFINITY,
      canBegin ? restsUntil : Number.POSITIVE_INFINITY,
    );
    const at = Math.max(dueAt, restsUntil);
    // What is due and may not be tried now is looked at when a try ends.
    if (at > now && at < Number.POSITIVE_INFINITY)
      this.#cancelTimer = this.#clock.after(at - now, () => this.#advance());
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
    this.#open.endTry(position);
    // It may have been enabled meanwhile.
    const message = this.#open.get(position) ?? begun;
    if (isTry(result)) this.#options.onTried(message, message.attempts + 1, result, this.#settle(message, result));
    else if (result.kind === 'dropped') this.#open.delete(position);
    else this.#open.keep({ ...message, dueAt: this.#clock.now() + postponedMs });
    this.#options.onChange();
    this.#advance();
  }

  /** @returns what becomes of a message after a try */
  #settle(message: OpenMessage, { kind, asks }: TryResult): DeliveryOutcome {
    if (kind === 'delivered') {
      this.#open.delete(message.position);
      this.#succeeded();
      return 'delivered';
    }
    if (asks?.isGone) this.#disableBecause('gone');
    if (message.isTest) {
      this.#open.delete(message.position);
      return 'given-up';
    }
    return this.#failed(message, asks ?? null);
  }

  #succeeded(): void {
    const now = this.#clock.now();
    // What waits long for its next try need not, once the endpoint is there again.
    if (this.#health.isDead) for (const message of this.#open.list) this.#open.keep({ ...message, dueAt: now });
    this.#health.recordSuccess();
  }

  #failed(message: OpenMessage, asks: ReceiverRequest | null): DeliveryOutcome {
    const now = this.#clock.now();
    const attempts = message.attempts + 1;
    const firstTriedAt = message.firstTriedAt ?? now;
    const retryAfterMs = asks?.retryAfterMs ?? 0;
    this.#health.recordFailure(now);
    if (asks?.isForAll) this.#health.holdUntil(now + Math.min(retryAfterMs, longestHoldMs));
    const isExhausted = this.#health.isExhausted(now);
    if (!isExhausted && now - firstTriedAt >= retryForMs) {
      this.#open.delete(message.position);
      return 'given-up';
    }
    const dueAt = nextTryAt({ attempts, firstTriedAt, now, retryAfterMs, random: this.#clock.random() });
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
