import type { Entity } from '#domain/entity.ts';
import type { OrganizationEvents } from './events.ts';
import type { OrganizationRecord } from './record.ts';

/** An organization, or null before it was created. */
export type OrganizationState = {
  readonly id: string;
  readonly name: string;
  /** A headless integrator: it owns templates and customer organizations. */
  readonly partner: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
} | null;

export const organization: Entity<OrganizationState, OrganizationEvents> = {
  category: 'organization',
  initial: null,
  streamKey: (id) => id,
  knows: (state) => state !== null,
  isLive: (state) => state !== null,
  notFound: 'organization-not-found',
  evolve: (_, { data, metadata: { time } }) => ({ ...data, createdAt: time, updatedAt: time }),
};

/** The record of an organization from its state. */
export function organizationRecord(state: OrganizationState): OrganizationRecord {
  if (state === null) throw new Error('an answer about an organization needs one');
  return state;
}
