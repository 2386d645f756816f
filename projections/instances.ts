import type { InstanceEvents } from '#domain/instance/events.ts';
import { type InstanceState, instance, statusOf } from '#domain/instance/instance.ts';
import type { InstanceRecord } from '#domain/instance/record.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { type ProjectedEventOf, projection } from '#projection-engine/projection.ts';
import { tenantIndexes, tenantOf } from './document.ts';

export interface InstanceDocument extends Tenant {
  readonly revision: number;
  /**
   * The position of the last event. A read model before this position may not show the results of the instance's
   * operations.
   */
  readonly position: number;
  readonly name: string;
  readonly status: InstanceRecord['status'];
  readonly state: NonNullable<InstanceState>;
}

/**
 * Folded with the entity's `evolve`, so that clients see the steps that are carried out. A change of `instance.evolve`
 * needs a new version of this projection.
 */
export const instances = projection<InstanceDocument, InstanceEvents>({
  name: 'instances',
  version: 2,
  keys: ({ data }) => [data.id],
  on: {
    InstanceCreated: fold,
    InstanceUpgradeRequested: fold,
    InstanceRetryRequested: fold,
    InstanceDeleted: fold,
    InstanceProgressed: fold,
    InstanceAttemptFailed: fold,
    InstanceOperationFailed: fold,
    InstanceOperationCommitted: fold,
    InstanceOperationEnded: fold,
    InstancePhoneNumberSet: fold,
  },
  indexes: tenantIndexes(['organizationId', 'partnerId', 'projectId'], ['name', 'status']),
});

function fold(document: InstanceDocument | null, event: ProjectedEventOf<InstanceEvents>): InstanceDocument | null {
  const state = instance.evolve(document?.state ?? null, event);
  if (state === null || state.deleted) return null;
  return {
    ...tenantOf(event.metadata),
    revision: event.revision,
    position: event.position,
    name: state.name,
    status: statusOf(state),
    state,
  };
}
