import { setMaxListeners } from 'node:events';
import type { StreamWriter } from '#application/streams/stream-writer.ts';
import { nothingRead } from '#domain/shared/log-mark.ts';
import type { EndpointTries } from '#domain/webhook-endpoint/running-tries.ts';
import { identityOfLog } from '#event-store/log-identity.ts';
import type { LogTail } from '#event-store/log-tail.ts';
import type { Term } from '#leases/term.ts';
import { areShown } from '#positions/positions.ts';
import type { WebhookEndpointDocument } from '#projections/webhook-endpoints.ts';
import { paginateAll } from '#read-store/paginate-all.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { BackOff } from '#shared/async/retrying.ts';
import { abortable, delay } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { errorText } from '#shared/logging/logged-error.ts';
import type { DeliveryLog } from '#webhooks/delivery-log.ts';
import { type DeliveryState, newDeliveryState } from '#webhooks/state/delivery-state.ts';
import type { DeliveryChange, DeliveryStateStore, StoredDelivery } from '#webhooks/state/delivery-state-store.ts';
import { DeliveryRecords } from './delivery-records.ts';
import { DeliveryTerm, type DeliveryTermOptions, type EndpointAtStart } from './delivery-term.ts';
import { disableEndpoint } from './disable-endpoint.ts';
import type { CountTry, DeliveryFigures } from './webhook-metrics.ts';

type TermOptions = Pick<DeliveryTermOptions, 'positions' | 'delivery' | 'log'>;

export interface WebhookRunnerOptions extends TermOptions {
  readonly store: DeliveryTermOptions['store'] & { lastPosition(): Promise<number> };
  readonly tail: LogTail;
  /**
   * When this node started, before it received requests; null if it is unknown. On a log without any state, the
   * endpoints that were created since then are new ones, even if the first term begins later.
   */
  readonly endAtStart: Promise<number | null>;
  readonly documents: ReadStore;
  readonly writer: Pick<StreamWriter, 'write'>;
  readonly deliveries: DeliveryLog;
  readonly countTry: CountTry;
  readonly statesFor: (token: number) => DeliveryStateStore;
}

type TermOfDelivery = Pick<Term, 'token' | 'signal' | 'isHeld' | 'guard'>;

const endpointsCollection = 'webhook-endpoints';
const retryLimits = { firstMs: 250, maxMs: 10_000 };
const readModelWaitMs = 2_000;
const readModelRetryMs = 500;
const expiryIntervalMs = 10 * 60_000;
const retentionMs = 30 * 24 * 60 * 60_000;

/** Delivers webhooks while this node holds the lease. */
export class WebhookRunner {
  readonly #options: WebhookRunnerOptions;
  #term: DeliveryTerm | null = null;
  /** True if the wait was logged since the last term began. */
  #hasLoggedWaiting = false;

  constructor(options: WebhookRunnerOptions) {
    this.#options = options;
  }

  /** The figures; null while this node does not deliver. */
  figures(): DeliveryFigures | null {
    return this.#term?.figures() ?? null;
  }

  /** The tries; null if this node does not deliver to the endpoint. */
  triesOf(endpointId: string): EndpointTries | null {
    return this.#term?.triesOf(endpointId) ?? null;
  }

  /**
   * Ends within seconds after the term, whatever it waits for.
   * @throws FencedError if another node delivers now
   */
  async run(term: TermOfDelivery): Promise<void> {
    const { signal } = term;
    // Every wait listens to the signal.
    setMaxListeners(0, signal);
    const backOff = new BackOff(retryLimits);
    void this.#removeOldTries(term);
    while (!signal.aborted) {
      try {
        await this.#deliver(term);
        backOff.succeeded();
      } catch (error) {
        if (error instanceof FencedError) throw error;
        if (signal.aborted) return;
        this.#logFailure(error);
        await delay(backOff.failed(), signal);
      }
    }
  }

  async #deliver(term: TermOfDelivery): Promise<void> {
    const begun = await abortable(term.signal, () => this.#begin(term));
    if (begun === null) return;
    this.#term = begun;
    try {
      await begun.run();
    } finally {
      if (this.#term === begun) this.#term = null;
    }
  }

  /** @returns null if the signal aborts first */
  async #begin({ token, signal, isHeld, guard }: TermOfDelivery): Promise<DeliveryTerm | null> {
    const { store, tail, endAtStart, delivery, log, ...ports } = this.#options;
    const states = guard(ports.statesFor(token));
    const [documents, positions, writer] = [guard(ports.documents), guard(ports.positions), guard(ports.writer)];
    const [deliveries, countTry] = [guard(ports.deliveries), guard(ports.countTry)];
    const logIdentity = await identityOfLog(tail, signal);
    if (logIdentity === null) return null;
    const from = await store.lastPosition();
    const acquired = await this.#acquireStates(states, logIdentity, (await endAtStart) ?? from);
    const stored = await this.#inLog(states, logIdentity, acquired, signal);
    if (!(await this.#waitForEndpoints(from, signal))) return null;
    const endpoints = await this.#endpointsAtStart(stored, from);
    await states.remove(unusedStates(stored, endpoints));
    this.#hasLoggedWaiting = false;
    return new DeliveryTerm({
      documents,
      positions,
      delivery,
      store: guard(store),
      tail,
      endpoints,
      from,
      log,
      isHeld,
      signal,
      createRecords: (followed) =>
        new DeliveryRecords({ states, logIdentity, deliveries, countTry, followed, trail: tail.trail, log }),
      disable: (...disabled) => disableEndpoint({ writer, log }, ...disabled),
    });
  }

  /** While read models are filled for the first time, every try fails. That is not an error, so the runner logs it once. */
  #logFailure(error: unknown): void {
    const { log } = this.#options;
    if (!(error instanceof UnavailableError)) {
      log.error({ err: error }, 'The delivery of webhooks has failed and begins again');
      return;
    }
    if (!this.#hasLoggedWaiting)
      log.info({ reason: error.message }, 'Webhooks wait until what their delivery needs can be used');
    this.#hasLoggedWaiting = true;
  }

  /**
   * Without stored states of the log, stores the position at which this node started, so that the state of an endpoint
   * that is created before the first term begins does not count as lost.
   */
  async #acquireStates(states: DeliveryStateStore, logIdentity: string, from: number): Promise<StoredDelivery> {
    const stored = await states.acquire(logIdentity);
    if (stored.followed !== null) return stored;
    await states.write(logIdentity, new Map(), from, this.#options.tail.trail.read);
    return { ...stored, followed: from };
  }

  /** Takes the states back to where the log is the one on which they were made. */
  async #inLog(
    states: DeliveryStateStore,
    logIdentity: string,
    stored: StoredDelivery,
    signal: AbortSignal,
  ): Promise<DeliveryAtStart> {
    const { tail, log } = this.#options;
    const compared = await tail.compare(stored.read ?? nothingRead, signal);
    if (compared?.lost == null) return { ...stored, isTakenBack: false };
    const position = compared.common?.position ?? 0;
    log.warn(
      { position: compared.lost.position, commonPosition: position },
      'The log no longer has events that were sent to webhooks, as after a restore: the delivery continues before these',
    );
    const before = takenBack(stored, position);
    const changes = [...before.states].map(([id, { open: _, ...state }]): [string, DeliveryChange] => {
      const messages = stored.states.get(id)?.open ?? [];
      const closed = messages.map((message) => message.position).filter((one) => one > position);
      return [id, { ...state, open: [], closed }];
    });
    await states.write(logIdentity, new Map(changes), before.followed ?? position, tail.trail.read);
    return { ...before, isTakenBack: true };
  }

  async #waitForEndpoints(position: number, signal: AbortSignal): Promise<boolean> {
    const { positions } = this.#options;
    while (!signal.aborted) {
      if (await areShown(positions, [endpointsCollection], position, { ms: readModelWaitMs, signal })) return true;
      await delay(readModelRetryMs, signal);
    }
    return false;
  }

  async #endpointsAtStart(stored: DeliveryAtStart, end: number): Promise<ReadonlyArray<EndpointAtStart>> {
    const { documents } = this.#options;
    const endpoints: EndpointAtStart[] = [];
    for await (const page of paginateAll<WebhookEndpointDocument & Record<string, unknown>>(
      documents,
      endpointsCollection,
      {},
    )) {
      for (const { id, value } of page) {
        const { revision, record, secrets, createdAtPosition } = value;
        const state = stateOf(stored, id, createdAtPosition, end) ?? this.#beginAtEnd(id, end);
        endpoints.push({ id, facts: { revision, record, secrets }, state });
      }
    }
    return endpoints;
  }

  #beginAtEnd(webhookEndpoint: string, end: number): DeliveryState {
    this.#options.log.warn(
      { webhookEndpoint, position: end },
      'The delivery position of a webhook endpoint is lost: delivery begins at the end of the log. Replay the missed events',
    );
    return newDeliveryState(end, new Date(clock.time()).toISOString());
  }

  /** Never rejects. The end of the term does not wait for it. */
  async #removeOldTries({ signal, guard }: TermOfDelivery): Promise<void> {
    const { log } = this.#options;
    const deliveries = guard(this.#options.deliveries);
    while (!signal.aborted) {
      try {
        const before = new Date(clock.time() - retentionMs).toISOString();
        while ((await deliveries.removeBefore(before)) && !signal.aborted) await delay(0, signal);
      } catch (error) {
        if (signal.aborted) return;
        log.warn(
          { error: errorText(error) },
          'Old tries to deliver webhooks could not be removed; the node tries again',
        );
      }
      await delay(expiryIntervalMs, signal);
    }
  }
}

/** The states as far as they are about events up to the position. */
function takenBack({ followed, states, ...stored }: StoredDelivery, position: number): StoredDelivery {
  const before = [...states].map(([id, state]): [string, DeliveryState] => {
    const open = state.open.filter((message) => message.position <= position);
    return [id, { ...state, position: Math.min(state.position, position), open }];
  });
  return { ...stored, followed: followed === null ? null : Math.min(followed, position), states: new Map(before) };
}

/** The states with which a term begins. */
interface DeliveryAtStart extends StoredDelivery {
  /** True if the log has lost events that the states are about. */
  readonly isTakenBack: boolean;
}

/** The state; null if it is lost. */
function stateOf(
  { followed, states, isTakenBack }: DeliveryAtStart,
  id: string,
  createdAtPosition: number,
  end: number,
): DeliveryState | null {
  const state = states.get(id);
  if (state !== undefined && !isOfLog(state, end)) return null;
  if (state !== undefined && isTakenBack && state.position < createdAtPosition)
    return { ...state, position: createdAtPosition };
  if (state !== undefined) return state;
  const isCreatedSince = followed !== null && followed <= end && createdAtPosition > followed;
  return isCreatedSince ? newDeliveryState(createdAtPosition) : null;
}

/**
 * True if the state is of this log. A log that ends before a state's messages was restored from a backup. Its next
 * events are different ones.
 */
function isOfLog({ position, open }: DeliveryState, end: number): boolean {
  return position <= end && open.every((message) => message.position <= end);
}

/** The states of deleted endpoints, and of endpoints whose delivery begins without a state. */
function unusedStates({ states }: StoredDelivery, endpoints: ReadonlyArray<EndpointAtStart>): ReadonlyArray<string> {
  const begun = new Map(endpoints.map(({ id, state }) => [id, state]));
  return [...states].filter(([id, state]) => begun.get(id) !== state).map(([id]) => id);
}
