import type { Audience, Caller } from '#domain/shared/access.ts';
import type { Entity } from '#domain/shared/entity.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { WebhookEndpointEvents } from './events.ts';
import type { WebhookEndpointRecord } from './record.ts';
import { type RequestedTest, withTest } from './running-tries.ts';
import { rotatedSecrets, type SealedSecret } from './secret.ts';

/** Null before it was created. */
export type WebhookEndpointState = {
  readonly record: WebhookEndpointRecord;
  /** The secrets, the newest first. */
  readonly secrets: ReadonlyArray<SealedSecret>;
  /** The newest tests, the oldest of them first. */
  readonly tests: ReadonlyArray<RequestedTest>;
  /** The number of requested replays. */
  readonly replays: number;
  readonly deleted: boolean;
} | null;

/** Estimated size of a secret with its entry in the list. */
const bytesOfSecret = 256;
const bytesOfTest = 64;

/** An endpoint of a project or an organization. Each has one stream. */
export const webhookEndpoint: Entity<WebhookEndpointState, WebhookEndpointEvents> = {
  category: 'webhookEndpoint',
  initial: null,
  streamKey: (id) => id,
  everExisted: (state) => state !== null,
  isLive: (state) => state !== null && !state.deleted,
  estimateBytes: (state) =>
    state === null
      ? 0
      : charactersOf(state.record) + bytesOfSecret * state.secrets.length + bytesOfTest * state.tests.length,
  notFound: 'webhook-endpoint-not-found',
  evolve: (state, event) => {
    const { time } = event.metadata;
    switch (event.type) {
      case 'WebhookEndpointCreated': {
        const { secret, ...made } = event.data;
        return {
          record: { ...made, status: 'enabled', disabledReason: null, createdAt: time, updatedAt: time },
          secrets: [{ secret, validUntil: null }],
          tests: [],
          replays: 0,
          deleted: false,
        };
      }
      case 'WebhookEndpointChanged': {
        const { url, eventTypes, description } = event.data;
        return changed(state, time, { url, eventTypes, description });
      }
      case 'WebhookEndpointEnabled':
        return changed(state, time, { status: 'enabled', disabledReason: null });
      case 'WebhookEndpointDisabled':
        return changed(state, time, { status: 'disabled', disabledReason: event.data.reason });
      case 'WebhookSecretRotated': {
        const { secret, previousValidUntil } = event.data;
        const after = changed(state, time, {});
        return after && { ...after, secrets: rotatedSecrets(after.secrets, secret, previousValidUntil, time) };
      }
      case 'WebhookTestRequested':
        return state && { ...state, tests: withTest(state.tests, { revision: event.revision, time }) };
      case 'WebhookReplayRequested':
        return state && { ...state, replays: state.replays + 1 };
      case 'WebhookEndpointDeleted':
        return state && { ...state, deleted: true };
    }
  },
};

function changed(
  state: WebhookEndpointState,
  time: string,
  change: Partial<WebhookEndpointRecord>,
): WebhookEndpointState {
  return state && { ...state, record: { ...state.record, ...change, updatedAt: time } };
}

function charactersOf({ url, description, eventTypes }: WebhookEndpointRecord): number {
  return url.length + (description?.length ?? 0) + eventTypes.reduce((sum, type) => sum + type.length, 0);
}

export function knownWebhookEndpoint(state: WebhookEndpointState): NonNullable<WebhookEndpointState> {
  if (state === null) throw new Error('an answer about a webhook endpoint needs one');
  return state;
}

export function audienceOf({
  audience,
  organizationId,
  projectId,
}: Pick<WebhookEndpointRecord, 'audience' | 'organizationId' | 'projectId'>): Audience {
  return { keyType: audience, organizationId, projectId: projectId ?? '' };
}

const rank = { project: 0, organization: 1, partner: 2, admin: 3 } as const;

/** A key needs access to the endpoint's events. */
export function checkMayChange(
  { keyType }: Pick<Caller, 'keyType'>,
  { audience }: Pick<WebhookEndpointRecord, 'audience'>,
): Failure | null {
  if (rank[keyType] >= rank[audience]) return null;
  return failure(
    'key-type-not-allowed',
    `The endpoint receives what a ${audience} key has access to, so no ${keyType} key can use it.`,
  );
}

export const maxUrlCharacters = 2_048;

/** Null if the form of the URL is valid. The host is not resolved. @param allowsHttp plain HTTP is allowed */
export function faultOfUrl(url: string, allowsHttp: boolean): string | null {
  if (!URL.canParse(url)) return 'must be a URL, like https://example.com/hooks';
  const { protocol, username, password, hash } = new URL(url);
  if (protocol !== 'https:' && !(allowsHttp && protocol === 'http:')) return 'must begin with https://';
  if (username !== '' || password !== '') return 'must not have a user name or a password in it';
  return hash === '' ? null : 'must not have a fragment (#…)';
}
