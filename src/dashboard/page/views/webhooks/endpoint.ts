import type { Names } from '#dashboard/page/app/data/names.ts';

/** An endpoint without its secret. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly audience: string;
  readonly url: string;
  readonly eventTypes: ReadonlyArray<string>;
  readonly description: string | null;
  readonly status: 'enabled' | 'disabled';
  readonly disabledReason: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Only for a single endpoint; null before its delivery has begun. */
  readonly delivery?: {
    readonly position: number;
    readonly openMessages: number;
    readonly failingSince: string | null;
    readonly beganAtEndAt: string | null;
  } | null;
}

export interface Delivery {
  readonly messageId: string;
  readonly type: string;
  readonly position: number;
  /** The number of the try, 1 for the first. */
  readonly attempt: number;
  readonly outcome: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly durationMs: number;
  readonly time: string;
}

const reasons: Readonly<Record<string, string>> = {
  requested: 'somebody requested it',
  failing: 'every try has failed for three days',
  gone: 'its receiver answered 410 and wants no more messages',
  'key-revoked': 'the key that created it was revoked with all its descendants',
};

/** The reason as a part of a sentence. */
export function reasonText(disabledReason: string): string {
  return reasons[disabledReason] ?? disabledReason;
}

/** Describes the events that a key of the audience may see. */
export function audienceText(
  { audience, organizationId, projectId }: Pick<WebhookEndpoint, 'audience' | 'organizationId' | 'projectId'>,
  names: Names,
): string {
  const organization = names.shown('organization', organizationId);
  switch (audience) {
    case 'partner':
      return `${organization} and its customers`;
    case 'organization':
      return `all projects of ${organization}`;
    default:
      return names.ofProject(projectId ?? '');
  }
}
