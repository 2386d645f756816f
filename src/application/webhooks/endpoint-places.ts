import * as E from 'fp-ts/lib/Either.js';
import type { Tenant } from '#domain/shared/access.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { Admission } from '#exchange/admission.ts';
import { currentHeld } from '#exchange/held.ts';
import type { Positions } from '#positions/positions.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { type EndpointLimit, type EndpointLimits, endpointLimitsOf } from './endpoint-limits.ts';

export interface EndpointPlacesOptions {
  readonly admission: Pick<Admission, 'slot'>;
  readonly documents: Pick<ReadStore, 'count'>;
  readonly positions: Pick<Positions, 'hasPassed' | 'isHalted' | 'passed'>;
  readonly limits: EndpointLimits;
  /** How long a full limit waits until the read model shows the last creations and deletions. */
  readonly timeoutMs: number;
}

/** A creation or deletion by this node that the read model does not show yet. */
interface Change {
  readonly tenant: Tenant;
  readonly position: number;
  readonly created: number;
}

const readModel = 'webhook-endpoints';
/** How many endpoints an event adds, by its type. */
const createdBy: ReadonlyMap<string, number> = new Map([
  ['WebhookEndpointCreated', 1],
  ['WebhookEndpointDeleted', 0],
]);
/** Maximum number of remembered changes. The oldest are forgotten if the read model does not show them. */
const maxChanges = 10_000;

/**
 * The read model counts the endpoints that exist, and this node adds those that it has created and the read model does
 * not show yet. Creations of one organization, or of one partner with its customers, run one after another. So a node
 * keeps its limits; each further node may exceed them by one.
 */
export class EndpointPlaces {
  readonly #options: EndpointPlacesOptions;
  /** The changes in the order of their positions. */
  readonly #changes: Change[] = [];
  /** The position of the last change for which a wait was too long. */
  #latePosition = 0;

  constructor(options: EndpointPlacesOptions) {
    this.#options = options;
  }

  /** Takes events that this node has appended. Call it before the turn of their creation ends. */
  observe(appended: ReadonlyArray<RecordedEvent>): void {
    this.#removeShown();
    for (const { type, position, metadata } of appended) {
      const created = createdBy.get(type);
      if (created !== undefined) this.#changes.push({ tenant: metadata, position, created });
    }
    if (this.#changes.length > maxChanges) this.#changes.shift();
  }

  /**
   * @returns a function that ends the turn, to be called once
   * @throws UnavailableError if too many creations wait, or after 10 s
   */
  async enter({ partnerId, organizationId, projectId }: Tenant): Promise<() => void> {
    const whose = { owner: projectId ?? organizationId, group: partnerId ?? organizationId };
    const leave = await this.#options.admission.slot(currentHeld(), 'endpoint creation', whose);
    if (E.isLeft(leave)) throw new UnavailableError(leave.left.detail);
    return leave.right;
  }

  /** Null if the tenant can have another endpoint. @throws UnavailableError */
  async refusalOf(tenant: Tenant): Promise<Failure | null> {
    for (const limit of endpointLimitsOf(tenant, this.#options.limits)) {
      if (await this.#isFull(limit)) return tooManyEndpoints(limit);
    }
    return null;
  }

  async #isFull(limit: EndpointLimit): Promise<boolean> {
    // Looked up before the count, which may already contain some of them. So a full limit is counted again.
    const changes = this.#changesIn(limit);
    if (!(await this.#reaches(limit, changes))) return false;
    const last = changes.at(-1);
    if (last === undefined) return true;
    await this.#waitFor(last);
    return this.#reaches(limit, this.#changesIn(limit));
  }

  /** Waits only once for a change that is late, because other creations wait for their turn. */
  async #waitFor({ position }: Change): Promise<void> {
    const { positions, timeoutMs } = this.#options;
    const isVain = position <= this.#latePosition || positions.isHalted('projection', readModel);
    const options = { strict: true, ms: isVain ? 0 : timeoutMs };
    const outcome = await positions.passed({ names: [readModel] }, position, options);
    if (outcome === 'timeout') this.#latePosition = Math.max(this.#latePosition, position);
  }

  async #reaches({ where, max }: EndpointLimit, changes: ReadonlyArray<Change>): Promise<boolean> {
    const notShown = changes.reduce((sum, { created }) => sum + created, 0);
    return notShown >= max || (await this.#options.documents.count(readModel, where, max)) + notShown >= max;
  }

  #changesIn({ includes }: EndpointLimit): ReadonlyArray<Change> {
    this.#removeShown();
    return this.#changes.filter(({ tenant }) => includes(tenant));
  }

  #removeShown(): void {
    const { positions } = this.#options;
    const isShown = ({ position }: Change) => positions.hasPassed({ names: [readModel] }, position, { strict: true });
    while (this.#changes[0] !== undefined && isShown(this.#changes[0])) this.#changes.shift();
  }
}

/** The creation of an endpoint. It holds its turn from the first `takePlace` until it is disposed of. */
export class EndpointCreation implements Disposable {
  readonly #places: Pick<EndpointPlaces, 'enter' | 'refusalOf'>;
  #leave: (() => void) | null = null;

  constructor(places: Pick<EndpointPlaces, 'enter' | 'refusalOf'>) {
    this.#places = places;
  }

  /** @returns why the tenant cannot have the endpoint; null if it can @throws UnavailableError */
  async takePlace(tenant: Tenant): Promise<Failure | null> {
    this.#leave ??= await this.#places.enter(tenant);
    return this.#places.refusalOf(tenant);
  }

  [Symbol.dispose](): void {
    this.#leave?.();
    this.#leave = null;
  }
}

function tooManyEndpoints({ of, max }: EndpointLimit): Failure {
  const whose = of === 'partner' ? 'partner and its customers have' : `${of} has`;
  return failure(
    'too-many-webhook-endpoints',
    `The ${whose} ${max} webhook endpoints, which is the limit. Delete one that is not needed.`,
  );
}
